import { expect, test } from "vitest";
import { sampleEvents, torture } from "../../../src/flows/listen/trigger.ts";
import type { PostFailure } from "../../../src/http/post.ts";

/** The kinds of deliveries that go wrong with a handler that gives long bodies no response. */
async function wrongWith(failure: PostFailure): Promise<string[]> {
  const results = torture({
    type: "task.failed",
    makeEvent: sampleEvents({ now: () => 0, random: () => 0 }),
    target: {
      url: new URL("http://127.0.0.1/"),
      secret: "whsec_of_test",
      send: async ({ body }) =>
        body instanceof Uint8Array && body.length > 1_000_000
          ? { status: null, why: "", failure, ms: 0 }
          : { status: 200, text: "", ms: 0 },
      now: () => 0,
      userAgent: "test",
      signal: new AbortController().signal,
    },
    sleep: async () => {},
  });
  const wrong: string[] = [];
  for await (const { name, ok, expected } of results) if (!ok && expected !== "4xx") wrong.push(name);
  return wrong;
}

test("a handler may close the connection of a body that is too long, but not keep it waiting", async () => {
  expect(await wrongWith("closed")).toEqual([]);
  expect(await wrongWith("timeout")).toEqual(["huge body"]);
});
