import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import type { LedgerEntry, SeenProduct } from "../../src/state/ledger.ts";
import type { State } from "../../src/state/state.ts";
import { openState } from "../../src/state/state.ts";
import { newAccount } from "../support/new-account.ts";
import { repetitions } from "../support/repetitions.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const options = { clock: systemClock() };
const runs = ["run-0", "run-1"] as const;

// References that SQLite or the library could confuse.
const reference = fc.constantFrom(
  "A",
  "a",
  "",
  "A\0",
  "A\0B",
  "\ud800",
  "\udfff",
  "é",
  "e\u0301",
  "\u{1f455}",
  "ÿ",
);
const bytes = fc.uint8Array({ maxLength: 40 });
const productId = fc.constantFrom("P1", "P2", "P3", "p1", "\ud800");
const entry: fc.Arbitrary<LedgerEntry> = fc.record({
  reference: fc.option(reference, { freq: 10 }),
  productId,
  fields: bytes,
  photos: fc.array(
    fc.record({
      source: fc.uint8Array({ minLength: 16, maxLength: 16 }).map((one) => Buffer.from(one)),
      image: fc.option(fc.constantFrom("01HN1H1W03A", "image-2")),
    }),
    { maxLength: 3 },
  ),
});
const entries = fc.array(entry, { maxLength: 4 });

type Step =
  | {
      do: "write";
      account: number;
      entries: LedgerEntry[];
      gone: string[];
      seen: SeenProduct[];
    }
  | { do: "begin"; run: number; references: string[]; body: Uint8Array }
  | { do: "accepted" | "dropped" | "settled"; run: number; pick: number; entries: LedgerEntry[] }
  | { do: "reopen" };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant("write" as const),
    account: fc.constantFrom(1, 2),
    entries,
    gone: fc.array(productId, { maxLength: 2 }),
    seen: fc.array(
      fc.record({ productId, reference, fields: bytes }, { requiredKeys: ["productId", "fields"] }),
      {
        maxLength: 2,
      },
    ),
  }),
  fc.record({
    do: fc.constant("begin" as const),
    run: fc.nat(1),
    references: fc.uniqueArray(reference, { minLength: 1, maxLength: 4 }),
    body: bytes,
  }),
  fc.record({
    do: fc.constantFrom("accepted" as const, "dropped" as const, "settled" as const),
    run: fc.nat(1),
    pick: fc.nat(5),
    entries,
  }),
  fc.record({ do: fc.constant("reopen" as const) }),
);

interface ModelCall {
  run: number;
  index: number;
  state: "sent" | "accepted" | "settled";
  jobs: readonly string[];
  references: string[];
  body: Uint8Array;
}

/** The expected content of a state, in plain arrays. */
class Model {
  readonly ledgers: Record<number, LedgerEntry[]> = { 1: [], 2: [] };
  calls: ModelCall[] = [];
  begun = [0, 0];

  put(account: number, written: readonly LedgerEntry[]): void {
    for (const one of written) {
      const others = this.ledgers[account]!.filter((old) => old.productId !== one.productId);
      this.ledgers[account] = [...setAside(others, one.reference), one];
    }
  }
  see(account: number, seen: readonly SeenProduct[]): void {
    for (const one of seen) {
      const known = this.ledgers[account]!.find(({ productId }) => productId === one.productId);
      if (known !== undefined) this.put(account, [{ ...known, ...one }]);
    }
  }
  unsettled = (run: number): ModelCall[] =>
    this.calls.filter((call) => call.run === run && call.state !== "settled");
  holder = (run: number, asked: string): ModelCall | undefined =>
    this.unsettled(1 - run).find(({ references }) => references.includes(asked));
}

/** The entries, after the one with the reference has lost it. */
const setAside = (entries: LedgerEntry[], reference: string | null): LedgerEntry[] =>
  entries.map((old) => (old.reference === reference ? { ...old, reference: null } : old));

/** Applies a step to a state and to its model. */
function take(state: State, model: Model, one: Exclude<Step, { do: "reopen" }>): void {
  if (one.do === "write") {
    state.ledger.write(one.account, one);
    model.ledgers[one.account] = model.ledgers[one.account]!.filter(
      ({ productId }) => !one.gone.includes(productId),
    );
    model.see(one.account, one.seen);
    model.put(one.account, one.entries);
    return;
  }
  const run = runs[one.run]!;
  if (one.do === "begin") {
    const index = model.begun[one.run]!;
    const places = Uint32Array.from(one.references, (_, place) => place * 2 ** 29);
    const begin = () =>
      state.batches.begin(1, {
        run,
        index,
        idempotencyKey: `${run}-${index}`,
        rows: places,
        lines: places.map((place) => place + 1),
        sentAt: index,
        sentAtService: index % 2 === 0 ? null : index + 1,
        memo: one.body,
        body: one.body,
        references: one.references,
        exclusive: true,
      });
    const held = one.references.find((asked) => model.holder(one.run, asked) !== undefined);
    expect(begin()).toBe(held ?? null);
    if (held !== undefined) return;
    model.begun[one.run]!++;
    const { references, body } = one;
    model.calls.push({ run: one.run, index, state: "sent", jobs: [], references, body });
    return;
  }
  const open = model.unsettled(one.run);
  const call = open[one.pick % Math.max(1, open.length)];
  if (call === undefined) return;
  if (one.do === "dropped") {
    state.batches.dropped(run, call.index);
    model.calls = model.calls.filter((other) => other !== call);
  } else if (one.do === "accepted") {
    call.jobs = [`job-${call.index}`, `job-${call.index}b`];
    state.batches.accepted(run, call.index, call.jobs);
    call.state = "accepted";
  } else {
    state.batches.settled(run, call.index, one.entries);
    model.put(1, one.entries);
    call.state = "settled";
  }
}

const plain = (one: LedgerEntry | null | undefined) =>
  one == null
    ? null
    : {
        ...one,
        fields: [...one.fields],
        photos: one.photos.map(({ source, image }) => ({ source: [...source], image })),
      };

/** Everything a state returns equals the model. */
function expectAlike(state: State, model: Model): void {
  for (const account of [1, 2]) {
    const ledger = model.ledgers[account]!;
    expect(state.ledger.isEmpty(account)).toBe(ledger.length === 0);
    for (const asked of ["A", "a", "", "A\0", "A\0B", "\ud800", "\udfff", "é", "e\u0301", "\u{1f455}", "ÿ"]) {
      expect(plain(state.ledger.get(account, asked))).toEqual(
        plain(ledger.find((one) => one.reference === asked)),
      );
    }
    for (const asked of ["P1", "p1", "\ud800"]) {
      expect(plain(state.ledger.ofProduct(account, asked))).toEqual(
        plain(ledger.find((one) => one.productId === asked)),
      );
    }
  }
  for (const [run, id] of runs.entries()) {
    const calls = model.calls.filter((call) => call.run === run);
    expect(
      state.batches.of(id).map(({ index, state: how, jobs, bytes: size, rows, lines }) => {
        return { index, how, jobs, size, rows: [...rows], lines: [...lines] };
      }),
    ).toEqual(
      calls.map(({ index, state: how, jobs, body, references }) => ({
        index,
        how,
        jobs,
        size: body.length,
        rows: references.map((_, place) => place * 2 ** 29),
        lines: references.map((_, place) => place * 2 ** 29 + 1),
      })),
    );
    for (const call of calls) {
      expect(state.batches.references(id, call.index)).toEqual(
        call.state === "settled" ? [] : call.references,
      );
      expect([...state.batches.memo(id, call.index)]).toEqual([...call.body]);
      if (call.state === "sent") expect([...state.batches.body(id, call.index)]).toEqual([...call.body]);
      else expect(() => state.batches.body(id, call.index)).toThrow(/keeps no bytes/);
    }
    expect(
      state.batches
        .unsettledElsewhere({ account: 1, kind: "import", runId: id })
        .map(({ run: other, batch }) => [other.id, batch.index]),
    ).toEqual(model.unsettled(1 - run).map((call) => [runs[1 - run], call.index]));
  }
}

test("a state behaves like plain arrays, on disk and in memory", async () => {
  const folder = temporaryFolder();
  let file = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const path = join(folder, `${file++}.db`);
      const states = [await openState(path, options), await openState(null, options)];
      const models = [new Model(), new Model()];
      for (const state of states) {
        for (const id of runs) {
          const account = newAccount(state, "http://service.example");
          expect(account).toBe(runs.indexOf(id) + 1);
          state.runs.begin({
            id,
            account: 1,
            kind: "import",
            identity: id,
            file: "f.csv",
            options: { mode: "upsert" },
            startedAt: 1,
          });
        }
      }
      for (const one of steps) {
        if (one.do === "reopen") {
          states[0]!.close();
          states[0] = await openState(path, options);
        } else {
          for (const [which, state] of states.entries()) take(state, models[which]!, one);
        }
        for (const [which, state] of states.entries()) expectAlike(state, models[which]!);
      }
      for (const state of states) state.close();
    }),
    { numRuns: repetitions(6, 300) },
  );
});
