import { afterEach, expect, test } from "vitest";
import type { PollOptions } from "../../src/client/options.ts";
import { operations } from "../../src/contract/client-operations.ts";
import type { Import } from "../../src/contract/resources/imports.ts";
import { TimeoutError } from "../../src/http/errors.ts";
import type { Wait } from "../../src/http/retry.ts";
import { bytes, json, refusal, reset, type Step } from "../http/scripted-server.ts";
import { clientAgainst, closeAll, importJob } from "./world.ts";

afterEach(closeAll);

const job = (status: string) => json(200, importJob(status), { "retry-after": "5" });
const page502 = bytes(502, "<h1>Bad gateway</h1>", { "content-type": "text/html" });

/** Polls one job through these steps, the last of which repeats; returns the outcome and the reported bodies. */
async function follow(steps: Step[], options: Partial<PollOptions<Import>> = {}) {
  const waits: Wait[] = [];
  const { client, clock, server } = await clientAgainst(steps, { onWait: (wait) => waits.push(wait) });
  const begun = clock.now();
  const ended = await client
    .poll(
      operations.imports.get,
      { import_id: "X" },
      { done: ({ status }) => status === "completed", ...options },
    )
    .then(
      ({ status }) => status,
      (error: unknown) => error,
    );
  const outages = waits.filter(({ reason }) => reason === "outage");
  return { ended, outages, begun, tookMs: clock.now() - begun, looks: server.requests.length };
}

/** The same value `count` times. */
const times = <Thing>(count: number, thing: Thing): Thing[] => Array.from({ length: count }, () => thing);

test.each<[string, Step]>([
  ["cut connections", reset],
  ["a service that fails", refusal(503, "unavailable")],
  ["the error page of a gateway", page502],
  ["a gateway's page with 403", bytes(403, "<h1>Login</h1>", { "content-type": "text/html" })],
  ["redirects to a login page", bytes(302, "", { location: "https://login.example.com/" })],
])("polling survives minutes of %s", async (_, step) => {
  const { ended, outages, begun, tookMs } = await follow([
    job("processing"),
    ...times(60, step),
    job("processing"),
    job("completed"),
  ]);
  expect(ended).toBe("completed");
  // Six attempts per request: ten requests failed, with a pause after each.
  expect(outages).toHaveLength(10);
  expect(new Set(outages.map(({ since }) => since))).toEqual(new Set([begun]));
  expect(outages.map(({ ms }) => ms)).toEqual([2_500, 5_000, 10_000, ...times(7, 15_000)]);
  expect(tookMs).toBeGreaterThan(120_000);
});

test("polling asks caches on the way for a new response each time", async () => {
  const { client, server } = await clientAgainst([job("processing"), job("completed")]);
  const done = ({ status }: Import) => status === "completed";
  await client.poll(operations.imports.get, { import_id: "X" }, { done });
  expect(server.requests.map(({ headers }) => headers["cache-control"])).toEqual(["no-cache", "no-cache"]);
});

test("polling waits for an answer that done gives later", async () => {
  const done = async ({ status }: Import) => status === "completed";
  const { ended, looks } = await follow([job("processing"), job("completed")], { done });
  expect([ended, looks]).toEqual(["completed", 2]);
});

test.each<[string, Partial<PollOptions<Import>>]>([
  ["done", { done: () => Promise.reject(new TimeoutError("mine", { code: "deadline" })) }],
  [
    "onResponse",
    {
      onResponse() {
        throw new TimeoutError("mine", { code: "deadline" });
      },
    },
  ],
  ["a promise of onResponse", { onResponse: async () => Promise.reject(new Error("mine")) }],
])("an error of %s ends polling immediately, as it is no outage", async (_, options) => {
  const { ended, looks } = await follow([job("processing")], options);
  expect(ended).toMatchObject({ message: "mine" });
  expect(looks).toBe(1);
});

test("the time limit and the signal end a done that never ends", async () => {
  const { client, clock } = await clientAgainst([job("processing")]);
  const stop = new AbortController();
  const pollUntil = (act: () => void, options: Partial<PollOptions<Import>>) =>
    client.poll(
      operations.imports.get,
      { import_id: "X" },
      {
        ...options,
        done() {
          act();
          return new Promise(() => {});
        },
      },
    );
  await expect(pollUntil(() => clock.advance(3_000), { timeoutMs: 3_000 })).rejects.toMatchObject({
    name: "TimeoutError",
    code: "wait_timeout",
  });
  const reason = new Error("stopped");
  await expect(pollUntil(() => stop.abort(reason), { signal: stop.signal })).rejects.toBe(reason);
});

test("closing the client ends a poll between two requests", async () => {
  const { client } = await clientAgainst([job("processing")]);
  const ended = client.poll(
    operations.imports.get,
    { import_id: "X" },
    {
      done() {
        void client.close();
        return false;
      },
    },
  );
  await expect(ended).rejects.toMatchObject({ name: "NetworkError", code: "client_closed" });
});

test("ten minutes without a response end polling with the latest error", async () => {
  const { ended, tookMs } = await follow([job("processing"), refusal(503, "unavailable")]);
  expect(ended).toMatchObject({ name: "ApiError", status: 503 });
  expect(tookMs).toBeGreaterThan(570_000);
  expect(tookMs).toBeLessThanOrEqual(5_000 + 600_000);
});

test("a later outage has its own ten minutes", async () => {
  const down = times(6 * 20, refusal(503, "unavailable"));
  const { ended, tookMs } = await follow([
    ...[job("processing"), ...down, job("processing"), ...down, job("completed")],
  ]);
  expect(ended).toBe("completed");
  expect(tookMs).toBeGreaterThan(700_000);
});

test.each([
  [401, "invalid_api_key"],
  [404, "import_not_found"],
  [501, "not_implemented"],
])("a %i in the middle of an outage ends polling immediately", async (status, code) => {
  const { ended, outages } = await follow([job("processing"), ...times(6, reset), refusal(status, code)]);
  expect(ended).toMatchObject({ status, code });
  expect(outages).toHaveLength(1);
});

test("polling ends immediately if the service has never responded", async () => {
  const { ended, outages, looks } = await follow([reset]);
  expect(ended).toMatchObject({ code: "connection_cut" });
  expect(outages).toEqual([]);
  expect(looks).toBe(6);
});

test("the caller's timeout ends an outage too", async () => {
  const { ended, tookMs } = await follow([job("processing"), reset], { timeoutMs: 60_000 });
  expect(ended).toMatchObject({ name: "TimeoutError", code: "wait_timeout" });
  expect(tookMs).toBeLessThan(90_000);
});

test("outageMs 0 ends polling with the first error after the usual attempts", async () => {
  const { ended, looks, outages } = await follow([job("processing"), reset], { outageMs: 0 });
  expect(ended).toMatchObject({ code: "connection_cut" });
  expect([looks, outages]).toEqual([7, []]);
});
