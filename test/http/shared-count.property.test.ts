import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SharedCount } from "../../src/http/shared-count.ts";
import { repetitions } from "../support/repetitions.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { minuteOf, type Sender, type Sent, type Story, share } from "./shared-window.ts";

const limit = 60;
const seeds = fc.integer({ min: 1, max: 2 ** 31 });

/** Latencies from those on one machine to those of a slow link. */
const latencies = fc
  .tuple(fc.integer({ min: 10, max: 500 }), fc.integer({ min: 0, max: 1_000 }))
  .map(([least, more]): [number, number] => [least, least + more]);

const inMinute = (sent: Sent, minute: number): number => sent.perMinute.get(minute) ?? 0;

/** The requests of each minute in order. */
function counts({ all, begun }: Story): number[] {
  const minutes = minuteOf(all.endedAt) - minuteOf(begun) + 1;
  return Array.from({ length: minutes }, (_, index) => inMinute(all, minuteOf(begun) + index));
}

test("a single client fills each window to the last request, and never sees a 429", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        requests: fc.integer({ min: 1, max: 250 }),
        concurrency: fc.integer({ min: 4, max: 100 }),
        latencyMs: latencies,
      }),
      fc.integer({ min: 1, max: 90 }),
      fc.integer({ min: 0, max: 20_000 }),
      seeds,
      async (sender, allowed, offsetMs, seed) => {
        const requests = Math.min(sender.requests, 4 * allowed);
        const story = await share([{ ...sender, requests, startMs: 0 }], { limit: allowed, offsetMs, seed });
        expect(story.all.refused).toBe(0);
        const full = Math.floor(requests / allowed);
        const rest = requests % allowed;
        expect(counts(story).filter((count) => count > 0)).toEqual([
          ...Array.from({ length: full }, () => allowed),
          ...(rest > 0 ? [rest] : []),
        ]);
      },
    ),
    { numRuns: repetitions(3, 300) },
  );
});

describe("processes of one key on a computer", () => {
  const sharing = (folder: string) => ({ count: () => new SharedCount(folder, "key-writes") });
  const crowds = fc.record({
    senders: fc.array(
      fc.record({
        requests: fc.integer({ min: 1, max: 150 }),
        concurrency: fc.integer({ min: 1, max: 40 }),
        latencyMs: latencies,
        startMs: fc.integer({ min: 0, max: 50_000 }),
      }),
      { minLength: 2, maxLength: 4 },
    ),
    offsetMs: fc.integer({ min: 0, max: 59_999 }),
    seed: seeds,
  });

  test("never see a 429, and use every window as one would", async () => {
    await fc.assert(
      fc.asyncProperty(crowds, async ({ senders, ...options }) => {
        const story = await share(senders, { limit, ...options, ...sharing(temporaryFolder()) });
        expect(story.all.refused).toBe(0);
        const total = senders.reduce((sum, { requests }) => sum + requests, 0);
        expect(counts(story).reduce((sum, count) => sum + count, 0)).toBe(total);
        // Requests in flight when a window ends count in both until they have a response.
        const inFlight = senders.reduce((sum, { concurrency }) => sum + concurrency, 0);
        const windows = Math.ceil((total + inFlight) / limit);
        expect(counts(story).length).toBeLessThanOrEqual(windows + 2);
      }),
      { numRuns: repetitions(5, 300) },
    );
  });

  test("never see a 429 where a fast and a slow one cross the end of a window", async () => {
    const senders: Sender[] = [
      { requests: 90, concurrency: 8, latencyMs: [2_000, 3_000], startMs: 0 },
      { requests: 120, concurrency: 8, latencyMs: [2, 10], startMs: 0 },
    ];
    const story = await share(senders, { limit, offsetMs: 58_500, ...sharing(temporaryFolder()) });
    expect(story.all.refused).toBe(0);
    expect(counts(story).slice(1, -1)).toEqual([limit, limit]);
  });

  test("in turn never see a 429: each knows the window from the ones before", async () => {
    const senders = Array.from({ length: 70 }, (_, index): Sender => {
      return { requests: 1, concurrency: 1, latencyMs: [10, 20], startMs: index * 100 };
    });
    const story = await share(senders, { limit, ...sharing(temporaryFolder()) });
    expect(story.all.refused).toBe(0);
    expect(counts(story)).toEqual([60, 10]);
  });

  test("each count their own requests where no file can be written", async () => {
    const senders = [0, 1].map((): Sender => {
      return { requests: 60, concurrency: 4, latencyMs: [10, 20], startMs: 0 };
    });
    const story = await share(senders, { limit, ...sharing(join(temporaryFolder(), "missing", "rate")) });
    expect(counts(story)).toEqual([60, 60]);
    expect(story.all.refused).toBeGreaterThan(0);
  });

  test("lose the requests of a killed one for its window and the next", () => {
    const folder = temporaryFolder();
    const window = (reset: number) => ({ reset, limit: 3, opensAt: reset * 1000 });
    const killed = new SharedCount(folder, "key-writes");
    killed.turn(window(60), 0);
    for (let left = 3; left > 0; left--) killed.add();
    killed.responded();
    const count = new SharedCount(folder, "key-writes");
    expect(count.find(30_000)).toEqual(window(60));
    count.turn(window(60), 0);
    expect(count.used).toBe(3);
    count.turn(window(120), 0);
    expect(count.used).toBe(2);
    count.turn(window(180), 0);
    expect(count.used).toBe(0);
  });
});
