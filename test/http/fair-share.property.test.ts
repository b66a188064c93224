import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { repetitions } from "../support/repetitions.ts";
import { minuteOf, type Sender, type Sent, type Story, share } from "./shared-window.ts";

const limit = 60;
const seeds = fc.integer({ min: 1, max: 2 ** 31 });

/** Latencies from those on one machine to those of a slow link. */
const latencies = fc
  .tuple(fc.integer({ min: 10, max: 500 }), fc.integer({ min: 0, max: 1_000 }))
  .map(([least, more]): [number, number] => [least, least + more]);

/** The minutes in which a sender had requests to send from start to end. */
function wholeMinutes({ begun }: Story, { startMs }: Sender, { endedAt }: Sent): number[] {
  const from = Math.ceil((begun + startMs) / 60_000);
  const until = minuteOf(endedAt);
  return Array.from({ length: Math.max(0, until - from) }, (_, index) => from + index);
}

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

describe("several equal clients", () => {
  const crowds = fc.record({
    callers: fc.integer({ min: 2, max: 4 }),
    requests: fc.integer({ min: 120, max: 200 }),
    concurrency: fc.integer({ min: 4, max: 60 }),
    latencyMs: latencies,
    starts: fc.array(fc.integer({ min: 0, max: 50_000 }), { minLength: 4, maxLength: 4 }),
    seed: seeds,
  });

  test("use the entire window, rarely see a 429, and get equal shares", async () => {
    await fc.assert(
      fc.asyncProperty(crowds, async ({ callers, requests, concurrency, latencyMs, starts, seed }) => {
        const senders = starts
          .slice(0, callers)
          .map((startMs) => ({ requests, concurrency, latencyMs, startMs }));
        const story = await share(senders, { seed });
        const minutes = counts(story);
        // All but the first minute, in which some had not started, and the last, in which little is left to
        // do.
        for (const count of minutes.slice(1, -1)) expect(count).toBeGreaterThanOrEqual(limit * 0.95);
        // No more windows than a single client would need, except the one in which they started.
        expect(minutes.length).toBeLessThanOrEqual(Math.ceil((callers * requests) / limit) + 1);
        // A few requests collide at the end of a window; a busy client may be rejected once, before it knows of the
        // others.
        const atOnce = concurrency > 8 ? callers * concurrency : 0;
        expect(story.all.refused).toBeLessThanOrEqual(1.5 * callers * minutes.length + atOnce);
        story.senders.forEach((sent, index) => {
          // In the first full minute they detect each other.
          for (const minute of wholeMinutes(story, senders[index]!, sent).slice(1)) {
            expect(inMinute(sent, minute)).toBeGreaterThanOrEqual((limit / callers) * 0.6);
          }
        });
      }),
      { numRuns: repetitions(3, 300) },
    );
  });

  test("a fast and a slow client on one machine both make progress", async () => {
    await fc.assert(
      fc.asyncProperty(seeds, fc.integer({ min: 0, max: 50_000 }), async (seed, startMs) => {
        const senders: Sender[] = [
          { requests: 240, concurrency: 4, latencyMs: [2, 20], startMs: 0 },
          { requests: 240, concurrency: 4, latencyMs: [500, 1_500], startMs },
        ];
        const story = await share(senders, { seed });
        story.senders.forEach((sent, index) => {
          for (const minute of wholeMinutes(story, senders[index]!, sent).slice(2)) {
            expect(inMinute(sent, minute)).toBeGreaterThanOrEqual(limit / 3);
          }
        });
        for (const count of counts(story).slice(1, -1)) expect(count).toBeGreaterThanOrEqual(limit * 0.95);
      }),
      { numRuns: repetitions(2, 100) },
    );
  });
});

test("a client left alone uses the entire window from the next one on", async () => {
  await fc.assert(
    fc.asyncProperty(seeds, fc.integer({ min: 0, max: 30_000 }), async (seed, startMs) => {
      const concurrency = 4;
      const story = await share(
        [
          { requests: 330, concurrency, latencyMs: [20, 200], startMs: 0 },
          { requests: 20, concurrency, latencyMs: [20, 200], startMs },
        ],
        { seed },
      );
      const minutes = counts(story);
      expect(minutes).toHaveLength(6);
      for (const count of minutes.slice(0, -1)) expect(count).toBeGreaterThanOrEqual(limit * 0.95);
      // The last 50 are sent at the same time: no other client was active for a while.
      expect(story.all.endedAt - minuteOf(story.all.endedAt) * 60_000).toBeLessThan(8_000);
    }),
    { numRuns: repetitions(2, 100) },
  );
});

// A client that empties a window within milliseconds of its opening cannot be matched: headers give the time
// in seconds.
test("a greedy client neither starves the pacing clients nor provokes bursts", async () => {
  await fc.assert(
    fc.asyncProperty(
      seeds,
      latencies.filter(([least]) => least >= 50),
      fc.integer({ min: 0, max: 50_000 }),
      async (seed, latencyMs, startMs) => {
        const senders: Sender[] = [
          { requests: 120, concurrency: 4, latencyMs, startMs },
          { requests: 600, concurrency: 4, latencyMs, startMs: 0, greedy: true },
        ];
        const story = await share(senders, { seed });
        const [ours] = story.senders;
        const whole = wholeMinutes(story, senders[0]!, ours!);
        for (const minute of whole.slice(1)) {
          expect(inMinute(ours!, minute)).toBeGreaterThanOrEqual(limit / 6);
        }
        expect(ours!.refused).toBeLessThanOrEqual(2 * (whole.length + 2));
      },
    ),
    { numRuns: repetitions(3, 200) },
  );
});
