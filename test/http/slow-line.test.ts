import pLimit from "p-limit";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Client, createClient } from "../../src/client/client.ts";
import type { Wait } from "../../src/http/retry.ts";
import { longTest } from "../support/long-test.ts";
import { repetitions, sampled } from "../support/repetitions.ts";
import { stillClock } from "./core.ts";
import { json, refusal, reset, type Step, silence, stopServers } from "./scripted-server.ts";
import { slowDownload, slowUpload } from "./slow-line.ts";

const opened: Client[] = [];
// It loads with the first request, in which the time of the line must not pass.
beforeAll(() => import("../../src/http/open-agent.ts"));
afterEach(async () => {
  await Promise.all(opened.splice(0).map((client) => client.close()));
  await stopServers();
});

const uploaded = json(
  201,
  { id: "01JGZZ0000000000000000000A", mime_type: "image/png", created_at: "2026-01-05T09:00:00Z" },
  { "x-ratelimit-limit": 60, "x-ratelimit-remaining": 59, "x-ratelimit-reset": 4_000_000_000 },
);

function clientOf(origin: string, clock = stillClock()) {
  const waits: Wait[] = [];
  const client = createClient({
    ...{ baseUrl: origin, apiKey: "ak_test_key_0123456789", clock, random: () => 0.5 },
    onWait: (wait) => waits.push(wait),
  });
  opened.push(client);
  return { client, waits };
}

/** Uploads photos of `size` bytes, so many at once, over one line. */
async function upload(
  photos: number,
  size: number,
  atOnce: number,
  bytesPerSecond: number,
  late?: Parameters<typeof slowUpload>[3],
  respond: Step = uploaded,
) {
  const clock = stillClock();
  const line = await slowUpload(clock, bytesPerSecond, respond, late);
  const { client, waits } = clientOf(line.server.origin, clock);
  const limit = pLimit(atOnce);
  const one = (at: number) =>
    client.images.upload({ file: { bytes: Buffer.alloc(size, at), filename: `${at}.png` } });
  const outcomes = await line.untilEnd(
    Promise.allSettled(Array.from({ length: photos }, (_, at) => limit(() => one(at)))),
  );
  const keys = new Map<string, Set<unknown>>();
  for (const { body, headers } of line.server.requests)
    keys.set(
      body.subarray(-60).toString("latin1"),
      (keys.get(body.subarray(-60).toString("latin1")) ?? new Set()).add(headers["idempotency-key"]),
    );
  return {
    done: outcomes.filter(({ status }) => status === "fulfilled").length,
    shared: line.shared,
    keys: [...keys.values()].map(({ size }) => size),
    noted: waits.filter(({ reason }) => reason === "slow_line").length > 0,
  };
}

describe("uploads over a slow line", () => {
  test("go on with half as many at once after a timeout, and all arrive", async () => {
    const { done, shared, keys, noted } = await upload(8, 1_600_000, 4, 60_000);
    expect(done).toBe(8);
    // The first one alone learns the rate limit window.
    expect(shared).toEqual([1, 4, 2, 1]);
    expect(keys).toEqual(Array(8).fill(1));
    expect(noted).toBe(true);
  });

  test.each(
    (
      [
        [8, 1_600_000, 8, 60_000],
        [34, 400_000, 33, 35_000],
        [3, 9_000_000, 2, 35_000],
        [3, 1_600_000, 2, 33_000],
      ] as const
    ).slice(repetitions(-1, 0)),
  )(
    "succeed one at a time: %i photos of %i bytes, %i at once, %i bytes per second",
    async (photos, ...rest) => {
      expect(await upload(photos, ...rest)).toMatchObject({ done: photos });
    },
  );

  test.each(
    sampled(
      [
        ["closes the connection", reset],
        ["responds 408", refusal(408, "request_timeout")],
      ],
      1,
    ),
  )("go on with half as many if the service %s after 60 s", async (_, step) => {
    const { done, shared, keys } = await upload(8, 1_600_000, 4, 60_000, { seconds: 60, step });
    expect(done).toBe(8);
    expect(shared).toEqual(expect.arrayContaining([4, 2]));
    expect(keys).toEqual(Array(8).fill(1));
  });

  test("stay as many as before where the line is fast enough", async () => {
    const { done, shared, noted } = await upload(9, 1_600_000, 4, 200_000);
    expect([done, shared, noted]).toEqual([9, [1, 4], false]);
  });

  longTest("arrive if the first one, for which the others wait, gets no response at first", async () => {
    let responses = 0;
    const respond: Step = (...request) => (responses++ === 0 ? silence : uploaded)(...request);
    const { done, keys } = await upload(6, 1_600_000, 4, 200_000, undefined, respond);
    expect(done).toBe(6);
    expect(keys).toEqual(Array(6).fill(1));
  });

  test("give up one that times out alone, after two attempts", async () => {
    const clock = stillClock();
    const line = await slowUpload(clock, 60_000, silence);
    const { client } = clientOf(line.server.origin, clock);
    const file = { bytes: Buffer.alloc(1_600_000), filename: "a.png" };
    const outcome = client.images.upload({ file }).catch((error: unknown) => error);
    expect(await line.untilEnd(outcome)).toMatchObject({ name: "TimeoutError", code: "attempt_timeout" });
    expect(line.server.requests).toHaveLength(2);
  });
});

describe("downloads over a slow line", () => {
  const download = async (files: number, size: number, atOnce: number, bytesPerSecond: number) => {
    const clock = stillClock();
    const line = await slowDownload(clock, bytesPerSecond, size);
    const { client } = clientOf(line.server.origin, clock);
    const limit = pLimit(atOnce);
    const one = async (at: number) => {
      let had = 0;
      const target = {
        kept: null,
        begin: async () => {
          had = 0;
        },
        write: async (chunks: readonly Uint8Array[]) => {
          for (const { length } of chunks) had += length;
        },
      };
      await client.downloadInto(target, { url: `${line.server.origin}/${at}?signature=s` });
      return had;
    };
    const sizes = await line.untilEnd(
      Promise.allSettled(Array.from({ length: files }, (_, at) => limit(() => one(at)))),
    );
    const received = sizes.map((outcome) => (outcome.status === "fulfilled" ? outcome.value : 0));
    return { received, shared: line.shared, resumed: line.server.requests.length - files };
  };

  test("go on with half as many at once after a timeout, and keep what they had", async () => {
    const { received, shared, resumed } = await download(8, 5_000_000, 8, 60_000);
    expect(received).toEqual(Array(8).fill(5_000_000));
    expect(shared.slice(0, 2)).toEqual([8, 4]);
    expect(resumed).toBeGreaterThan(0);
  });

  longTest("stay as many as before where the line is fast enough", async () => {
    const { received, shared, resumed } = await download(8, 5_000_000, 8, 400_000);
    expect([received, shared, resumed]).toEqual([Array(8).fill(5_000_000), [8], 0]);
  });
});
