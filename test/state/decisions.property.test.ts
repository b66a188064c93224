import fc from "fast-check";
import { expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import type { StoredDecision } from "../../src/state/decisions.ts";
import { openState } from "../../src/state/state.ts";
import { repetitions } from "../support/repetitions.ts";

const review = fc.array(
  fc.record({
    task: fc.constantFrom("T1", "T2", "T3"),
    run: fc.constant("run"),
    decision: fc.constantFrom("approve", "reject"),
    note: fc.constantFrom("", "sleeve"),
    at: fc.integer({ min: 1, max: 3 }),
    reviewer: fc.constantFrom("", "Anna", "Ben"),
  }) satisfies fc.Arbitrary<StoredDecision>,
  { maxLength: 4 },
);

test("the latest decision about an image counts, of equal times the rejection, in whatever order they are recorded", async () => {
  const reviews = fc.array(review, { maxLength: 5 });
  const shuffled = reviews.chain((all) =>
    fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
  );
  await fc.assert(
    fc.asyncProperty(shuffled, async ([inOrder, otherwise]) => {
      const state = await openState(null, { clock: systemClock() });
      for (const decisions of inOrder) state.decisions.record("http://x", decisions);
      for (const decisions of otherwise.map((one) => one.toReversed()))
        state.decisions.record("http://y", decisions);
      for (const task of ["T1", "T2", "T3"]) {
        const made = inOrder.flat().filter((one) => one.task === task);
        const at = Math.max(...made.map((one) => one.at));
        const last = made.filter((one) => one.at === at).map(({ decision }) => decision);
        const expected = made.length === 0 ? null : last.includes("reject") ? "reject" : "approve";
        for (const url of ["http://x", "http://y"]) {
          const kept = state.decisions.of(url, task);
          expect(kept?.decision ?? null).toBe(expected);
          if (kept !== null) expect(kept.at).toBe(at);
        }
      }
      expect(state.decisions.all("http://x").length).toBe(state.decisions.all("http://y").length);
      state.close();
    }),
    { numRuns: repetitions(25, 1_000) },
  );
});
