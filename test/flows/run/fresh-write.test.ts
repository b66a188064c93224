import fc from "fast-check";
import { expect, test } from "vitest";
import { MovableClock } from "../../../src/clock.ts";
import { sendFresh } from "../../../src/flows/run/fresh-write.ts";
import { RequestInFlight } from "../../../src/flows/run/requests.ts";

/** Lets promises settle. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

interface Scenario {
  /** How long each try waits before its bytes are sent, and whether the service then carries it out. */
  readonly tries: readonly { readonly waitMs: number; readonly isDone: boolean }[];
  /** When another client changes what the write is about; null for never. */
  readonly changedAt: number | null;
  /** How long a look takes. */
  readonly lookMs: number;
}

/** Plays a write, whose tries wait as in a queue or before a retry, on a clock that jumps from timer to timer. */
async function play({ tries, changedAt, lookMs }: Scenario) {
  const clock = new MovableClock({ frozenAt: 0 });
  const sleep = (ms: number, by: AbortSignal) => clock.sleep(ms, by);
  const sentAt: number[] = [];
  const looks: number[] = [];
  const ends: number[] = [];
  const again: { told: boolean; is: boolean }[] = [];
  let next = 0;
  const write = sendFresh<{ why: string }>(
    {
      lookedAt: 0,
      async look(by) {
        const at = clock.now();
        looks.push(at);
        await sleep(lookMs, by);
        ends.push(clock.now());
        return changedAt !== null && at >= changedAt ? { why: "changed" } : null;
      },
      async send({ signal: by, onDoubt, ...attempt }) {
        again.push({ told: attempt.again, is: sentAt.length > 0 });
        onDoubt(false);
        for (;;) {
          const { waitMs, isDone } = tries[Math.min(next, tries.length - 1)]!;
          await sleep(waitMs, by);
          next++;
          onDoubt(true);
          by.throwIfAborted();
          sentAt.push(clock.now());
          if (isDone) return;
        }
      },
    },
    { clock, begin: () => new RequestInFlight() },
  );
  let result: unknown = "open";
  void write.then((withheld) => {
    result = withheld?.reason ?? null;
  });
  for (let turn = 0; result === "open" && turn < 20_000; turn++) {
    await settle();
    clock.advance(50);
  }
  return { result, sentAt, looks, ends, again };
}

test("a write goes at most a second after a look that found no change, and ends", async () => {
  const tried = fc.record({ waitMs: fc.integer({ min: 0, max: 5_000 }), isDone: fc.boolean() });
  const scenario = fc.record({
    tries: fc
      .array(tried, { minLength: 1, maxLength: 5 })
      .map((tries) => [...tries, { waitMs: 0, isDone: true }]),
    changedAt: fc.option(fc.integer({ min: 0, max: 12_000 })),
    lookMs: fc.integer({ min: 0, max: 3_000 }),
  });
  await fc.assert(
    fc.asyncProperty(scenario, async (given) => {
      const { result, sentAt, ends, again } = await play(given);
      for (const at of sentAt) {
        // The first look is that of the caller, at 0.
        expect(at - Math.max(0, ...ends.filter((end) => end <= at))).toBeLessThanOrEqual(1_000);
      }
      const { changedAt } = given;
      const isLate = changedAt !== null && sentAt.every((at) => at >= changedAt + 1_050 + given.lookMs);
      if (isLate) expect(result).toEqual({ why: "changed" });
      if (changedAt === null) expect(result).toBe(null);
      expect(result).not.toBe("open");
      // A try without a response may have been carried out.
      for (const { told, is } of again) expect(told).toBe(is);
    }),
    { numRuns: 40 },
  );
});

test("a write that waits a minute is withdrawn as soon as a look finds a change", async () => {
  const { result, sentAt, looks } = await play({
    tries: [{ waitMs: 60_000, isDone: true }],
    changedAt: 10_000,
    lookMs: 50,
  });
  expect(result).toEqual({ why: "changed" });
  expect(sentAt).toEqual([]);
  expect(looks.at(-1)).toBeLessThan(11_000);
});

test("a write that goes at once looks at nothing", async () => {
  expect(await play({ tries: [{ waitMs: 0, isDone: true }], changedAt: null, lookMs: 50 })).toMatchObject({
    result: null,
    looks: [],
  });
});
