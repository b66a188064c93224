import { describe, expect, test } from "vitest";
import { refusal, type Step } from "../../http/scripted-server.ts";
import { batchesOf } from "./batch-rows.ts";
import { importWorld, withCreate } from "./run-import.ts";
import { type Script, scriptedService } from "./scripted-service.ts";

batchesOf(2);

const cdn = "https://cdn.example.com";
const rows = (count: number) =>
  Array.from({ length: count }, (_, index) => `R-${index},Dress,${cdn}/${index}.jpg\n`).join("");

/** An event of the scenario; everything passed to `after` waits for it. */
function happening() {
  let happen = () => {};
  const happened = new Promise<void>((resolve) => {
    happen = resolve;
  });
  const after =
    (step: Step): Step =>
    (response, seen) =>
      void happened.then(() => setImmediate(() => step(response, seen)));
  return { happen, after };
}

/** Pipes in four batches, sent at once, to a scripted service; `after` waits until all four have started. */
async function four(script: (begun: ReturnType<typeof happening>["after"]) => Script, piped = true) {
  const world = await importWorld();
  await world.write("a.csv", `reference,name,images\n${rows(7)}`);
  const begun = happening();
  const service = await scriptedService(world, script(begun.after));
  let calls = 0;
  const ran = await world.import("a.csv", { piped }, () =>
    withCreate(service.client, (...args) => {
      const answer = service.client.imports.create(...args);
      if (++calls === 4) begun.happen();
      return answer;
    }),
  );
  return { ...ran, service, world, kinds: ran.sent.map(({ kind }) => kind) };
}

const window = (remaining: number) => ({
  "x-ratelimit-limit": "60",
  "x-ratelimit-remaining": String(remaining),
  "x-ratelimit-reset": String(Date.parse("2026-01-05T09:01:00Z") / 1000),
});
const noCredits = refusal(402, "insufficient_credits");

describe("an import does not send waiting batches after another one was not accepted", () => {
  test.each<[string, Step]>([
    ["a 402 with room in the rate limit window", refusal(402, "insufficient_credits", window(50))],
    ["a 402 without rate limit headers", noCredits],
    ["a 429 with a long Retry-After", refusal(429, "rate_limit_exceeded", { "retry-after": 3600 })],
    ["a 501", refusal(501, "not_implemented")],
  ])("when the first one gets %s", async (_, step) => {
    const { kinds, service, summary, world } = await four((begun) => ({ post: () => begun(step) }));
    expect(service.posts()).toHaveLength(1);
    // A wait that affects no request is not shown.
    expect(service.waits).toEqual([]);
    expect(kinds.slice(1)).toEqual(["unsent", "unsent", "unsent"]);
    expect(summary).toMatchObject({ submitted: 0, failed_file: "failed" });
    expect((await world.read("failed")).match(/,not_sent,/g)).toHaveLength(5);
  });

  test("when the rate limit window is used up", async () => {
    const { kinds, service } = await four((begun) => ({
      post: (nth) => (nth === 2 ? begun(noCredits) : null),
      postHeaders: () => window(1),
    }));
    expect(service.posts()).toHaveLength(2);
    expect(kinds).toEqual(["accepted", "rejected", "unsent", "unsent"]);
  });

  test("when they wait after a 429: nothing was done", async () => {
    const limited = happening();
    const { kinds, service } = await four((begun) => ({
      post: (nth) => {
        if (nth === 2) {
          return begun((response, seen) => {
            refusal(429, "rate_limit_exceeded", { "retry-after": 60 })(response, seen);
            response.on("close", limited.happen);
          });
        }
        return nth === 3 ? limited.after(noCredits) : null;
      },
      postHeaders: () => window(2),
    }));
    expect(service.posts()).toHaveLength(3);
    expect(kinds.sort()).toEqual(["accepted", "rejected", "unsent", "unsent"]);
  });
});

test("an import waits for the response to a request that may have been sent when another batch is rejected", async () => {
  const [allOut, refused] = [happening(), happening()];
  const { kinds, service } = await four(() => ({
    post: (nth, usual) => {
      if (nth === 4) allOut.happen();
      if (nth === 1) return null;
      if (nth > 2) return refused.after(usual);
      return allOut.after((response, seen) => {
        noCredits(response, seen);
        response.on("close", refused.happen);
      });
    },
    postHeaders: () => window(3),
  }));
  expect(service.posts()).toHaveLength(4);
  expect(kinds.sort()).toEqual(["accepted", "accepted", "accepted", "rejected"]);
});

test.each<[number, number, string[]]>([
  [401, 1, ["a.csv"]],
  [403, 1, ["a.csv"]],
  [401, 2, ["a.csv"]],
])(
  "after a %i that rejects the API key of batch %i, the files are %j",
  async (status, refusedCall, files) => {
    const { world, stopped, summary } = await four(
      () => ({
        post: (nth) => (nth === refusedCall ? refusal(status, "no") : null),
        postHeaders: () => window(1),
      }),
      false,
    );
    expect(stopped).toMatchObject({ status });
    expect(summary?.failed_file).toBe(files[1] ?? null);
    expect(await world.files()).toEqual(files);
  },
);
