import fc from "fast-check";
import { expect, test } from "vitest";
import { Reviews } from "../../../../src/flows/export/reviews.ts";
import { exchangeDecisions } from "../../../../src/flows/export/sync/mirror-decisions.ts";
import { decisionsFile } from "../../../../src/flows/export/sync/mirror-state.ts";
import { readDecisions, toDecisions } from "../../../../src/flows/generate/columns/decisions.ts";
import { textSource } from "../../../../src/flows/rows/open-rows.ts";
import type { ReviewDecision } from "../../../../src/state/decisions.ts";
import { repetitions } from "../../../support/repetitions.ts";
import { TestClock } from "../../../support/test-clock.ts";
import { MemoryStore, StoredFiles } from "./memory-store.ts";

const read = async (content: Buffer) => {
  const source = { ...(await textSource("decisions.csv", String(content))), format: "csv" as const };
  const { decisions, problems } = await readDecisions(source, null);
  expect(problems).toEqual([]);
  return toDecisions(decisions, { savedAt: 0, now: Number.POSITIVE_INFINITY });
};

/** Cells are trimmed where they are read. */
const text = fc.oneof(
  fc.constantFrom("", "Anna", "=1+1", "'=A1", 'a "b"\r\n;c', "zu dünn"),
  fc.string({ maxLength: 8 }).map((one) => one.replace(/[\0-\x1f]/g, "").trim()),
);

const decision = fc.record({
  task: fc.constantFrom("T1", "T2", "T3"),
  decision: fc.constantFrom("approve", "reject"),
  note: text,
  at: fc.integer({ min: 0, max: 2 }),
  reviewer: text,
}) satisfies fc.Arbitrary<ReviewDecision>;

/** What a machine does: it hands decisions on, or mirrors with decisions of its own, if any. */
const step = fc.record({
  machine: fc.constantFrom("one laptop", "other laptop", "server"),
  decisions: fc.array(decision, { maxLength: 4 }),
});

const orders = fc
  .array(step, { maxLength: 6 })
  .chain((steps) => fc.tuple(fc.constant(steps), fc.shuffledSubarray(steps, { minLength: steps.length })));

type Step = { readonly machine: string; readonly decisions: readonly ReviewDecision[] };

/** The decisions that each machine has after these steps, and that the server has after a last run. */
async function played(steps: readonly Step[]) {
  const store = new MemoryStore(new StoredFiles(), { work: "work" });
  const known = new Map<string, ReviewDecision[]>();
  const exchange = async (machine: string, decisions: readonly ReviewDecision[]) => {
    const own = [...(known.get(machine) ?? []), ...decisions];
    known.set(machine, own);
    const reviews = new Reviews(own);
    await exchangeDecisions(store, reviews, { read, clock: new TestClock(), isDryRun: false });
    return reviews.all();
  };
  for (const { machine, decisions } of steps) await exchange(machine, decisions);
  const atServer = await exchange("server", []);
  return { atServer, file: String(await store.read(decisionsFile)) };
}

test("two reviewers and a server get the same decisions in every order", async () => {
  await fc.assert(
    fc.asyncProperty(orders, async ([steps, otherwise]) => {
      const [one, other] = [await played(steps), await played(otherwise)];
      expect(other).toEqual(one);
      const all = steps.flatMap(({ decisions }) => decisions);
      for (const task of ["T1", "T2", "T3"]) {
        const made = all.filter((each) => each.task === task);
        const at = Math.max(...made.map((each) => each.at));
        const last = made.filter((each) => each.at === at);
        const expected = last.find((each) => each.decision === "reject") ?? last[0];
        const kept = one.atServer.find((each) => each.task === task);
        expect([kept?.decision, kept?.at]).toEqual([expected?.decision, expected?.at]);
      }
    }),
    { numRuns: repetitions(40, 2_000) },
  );
});

test("a mirror whose decisions are known already is not written", async () => {
  const stored = new StoredFiles();
  const changes: string[] = [];
  const store = new MemoryStore(stored, { work: "work", onChange: (change) => changes.push(change) });
  const one: ReviewDecision = { task: "T1", decision: "approve", note: "", at: 0, reviewer: "Anna" };
  const run = async (...decisions: ReviewDecision[]) =>
    exchangeDecisions(store, new Reviews(decisions), { read, clock: new TestClock(), isDryRun: false });
  await run();
  expect(changes).toEqual([]);
  await run(one);
  await run(one);
  await run();
  expect(changes).toEqual(["put decisions.csv"]);
  expect(String(stored.files.get("decisions.csv"))).toBe(
    "task_id,decision,note,decided_at,reviewer\nT1,approve,,1970-01-01T00:00:00.000Z,Anna\n",
  );
});
