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
    at: fc.integer({ min: 1, max: 5 }),
  }) satisfies fc.Arbitrary<StoredDecision>,
  { maxLength: 4 },
);

test("the latest decision about an image counts, in whatever order reviews are recorded", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(review, { maxLength: 5 }), async (reviews) => {
      const state = await openState(null, { clock: systemClock() });
      const expected = new Map<string, StoredDecision>();
      for (const decisions of reviews) {
        state.decisions.record("http://x", decisions);
        for (const one of decisions)
          if (one.at >= (expected.get(one.task)?.at ?? 0)) expected.set(one.task, one);
      }
      for (const task of ["T1", "T2", "T3"])
        expect(state.decisions.of("http://x", task)).toEqual(expected.get(task) ?? null);
      expect([...state.decisions.all("http://x")].length).toBe(expected.size);
      state.close();
    }),
    { numRuns: repetitions(25, 1_000) },
  );
});
