import { beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { listedRuns } from "../../src/state/retention.ts";
import type { State } from "../../src/state/state.ts";
import { openState } from "../../src/state/state.ts";
import { newAccount } from "../support/new-account.ts";

let state: State;
beforeEach(async () => {
  state = await openState(null, { clock: systemClock() });
});

const rowsOfBatch = {
  idempotencyKey: "key",
  rows: Uint32Array.of(0),
  lines: Uint32Array.of(2),
  sentAt: 1,
  sentAtService: 2,
  memo: new Uint8Array(),
  body: new Uint8Array(),
  exclusive: true,
};

test("a key finds the account that it was bound to last, at its own base URL", () => {
  const [first, second] = [newAccount(state, "http://a"), newAccount(state, "http://a")];
  newAccount(state, "http://b");
  state.accounts.bind("http://a", "key", first);
  expect([state.accounts.find("http://a", "key"), state.accounts.find("http://b", "key")]).toEqual([
    first,
    null,
  ]);
  state.accounts.bind("http://a", "key", second);
  expect(state.accounts.find("http://a", "key")).toBe(second);
  expect(state.accounts.at("http://a")).toEqual([second, first]);
});

test("a run is open until it ends; its unknown outcomes outlive it, and are settled last", () => {
  const run = { account: 1, kind: "import", identity: "same", file: "f.csv", options: { mode: "upsert" } };
  const same = { account: 1, kind: "import", identity: "same" };
  state.runs.begin({ ...run, id: "late", startedAt: 20 });
  state.runs.begin({ ...run, id: "early", startedAt: 10 });
  expect(state.runs.ofKind("import").map(({ id }) => id)).toEqual(["early", "late"]);
  expect(state.runs.findOpen(same)).toEqual({ ...run, id: "early", startedAt: 10 });
  const call = { ...rowsOfBatch, run: "early" };
  state.batches.begin(1, { ...call, index: 0, references: ["A"] });
  state.batches.begin(1, { ...call, index: 1, references: ["B"] });
  state.batches.settled("early", 0, []);
  state.runs.end("early", 30);
  expect(state.runs.findOpen(same)?.id).toBe("late");
  expect(state.batches.of("early").map(({ index }) => index)).toEqual([1]);
  const late = { ...call, run: "late", index: 0, references: ["A", "B"] };
  expect(state.batches.begin(1, late)).toBe("B");
  expect(state.batches.of("late")).toEqual([]);
  state.batches.settled("early", 1, []);
  expect(state.batches.of("early")).toEqual([]);
  expect(state.batches.begin(1, late)).toBe(null);
  expect(state.batches.of("late")).toHaveLength(1);
  // A run of another kind may send references that this run has in flight.
  const third = { ...call, run: "third", references: ["A"] };
  state.runs.begin({ ...run, id: "third", startedAt: 30 });
  expect(state.batches.begin(1, { ...third, index: 0 })).toBe("A");
  expect(state.batches.begin(1, { ...third, index: 0, exclusive: false })).toBe(null);
});

test("runs of one kind never query, settle or block those of another", () => {
  const run = { account: 1, identity: "same", file: "f.csv", options: {}, startedAt: 1 };
  const batch = {
    ...{
      index: 0,
      idempotencyKey: "key",
      rows: Uint32Array.of(0),
      lines: Uint32Array.of(2),
      references: ["A"],
    },
    ...{ memo: new Uint8Array(), body: new Uint8Array(), sentAt: 1, sentAtService: 2, exclusive: true },
  };
  for (const kind of ["import", "tryon"]) {
    state.runs.begin({ ...run, kind, id: kind });
    expect(state.runs.findOpen({ account: 1, kind, identity: "same" })?.id).toBe(kind);
    expect(state.batches.begin(1, { ...batch, run: kind })).toBe(null);
    state.runs.begin({ ...run, kind, id: `${kind} again`, identity: "other" });
    expect(state.batches.begin(1, { ...batch, run: `${kind} again` })).toBe("A");
    expect(
      state.batches.unsettledElsewhere({ account: 1, kind, runId: `${kind} again` }).map(({ run }) => run.id),
    ).toEqual([kind]);
  }
  expect(state.runs.findOpen({ account: 1, kind: "export", identity: "same" })).toBe(null);
});

test("a patched row is recorded in its run and in the ledger until the run ends", () => {
  state.runs.begin({
    id: "run",
    account: 1,
    kind: "import",
    identity: "i",
    file: "f.csv",
    options: {},
    startedAt: 1,
  });
  const entry = {
    reference: "A",
    productId: "P",
    fields: new Uint8Array([1]),
    photos: [{ source: Buffer.alloc(16, 2), image: "image" }],
  };
  const row = { rowIndex: 5, line: 7, reference: "A", productId: "P" };
  state.doneRows.patching(1, "run", row, []);
  expect([state.doneRows.of("run"), state.doneRows.patchingRows("run")]).toEqual([[], [row.rowIndex]]);
  state.ledger.write(1, { entries: [entry] });
  state.doneRows.patched(1, "run", row, { productId: "P", fields: new Uint8Array([3]) });
  expect(state.doneRows.patchingRows("run")).toEqual([]);
  expect(state.doneRows.of("run")).toEqual([row]);
  const { fields, photos } = state.ledger.get(1, "A")!;
  expect([[...fields], photos]).toEqual([[3], entry.photos]);
  state.runs.end("run", 2);
  expect(state.doneRows.of("run")).toEqual([]);
});

test("products are ordered by creation, by their IDs", () => {
  const entry = (reference: string, productId: string) => ({
    ...{ reference, productId, fields: new Uint8Array([1]), photos: [] },
  });
  expect([state.ledger.first(1), state.ledger.last(1)]).toEqual([null, null]);
  state.ledger.write(1, { entries: [entry("C", "P1"), entry("A", "P3"), entry("B", "P2")] });
  state.ledger.write(2, { entries: [entry("A", "P9")] });
  expect([state.ledger.first(1), state.ledger.last(1)]).toEqual(["P1", "P3"]);
});

test("the last run that announced writes is recorded", () => {
  const begin = (id: string, account: number) =>
    state.runs.begin({ id, account, kind: "import", identity: id, file: "f.csv", options: {}, startedAt: 1 });
  const [one, other] = [newAccount(state, "http://a"), newAccount(state, "http://b")];
  begin("first", one);
  begin("second", one);
  expect(state.runs.lastWriter(one)).toBeNull();
  state.runs.writes(one, "first");
  state.runs.writes(one, "second");
  state.runs.writes(one, "second");
  expect([state.runs.lastWriter(one), state.runs.lastWriter(other)]).toEqual(["second", null]);
});

test("the time of the last check of the service is kept to the millisecond", () => {
  const account = newAccount(state, "http://a");
  expect(state.ledger.lookedAt(account)).toBe(null);
  state.ledger.setLookedAt(account, 1_700_000_000_123);
  expect(state.ledger.lookedAt(account)).toBe(1_700_000_000_123);
});

test("a key has one account, which several keys may share", () => {
  const { accounts } = state;
  const [one, other] = [accounts.createFor("http://a", "one"), accounts.createFor("http://a", "other")];
  expect(accounts.createFor("http://a", "one")).toBe(one);
  expect([accounts.find("http://a", "one"), accounts.find("http://b", "one")]).toEqual([one, null]);
  expect(accounts.at("http://a")).toEqual([other, one]);
  accounts.bind("http://a", "third", one);
  expect(accounts.at("http://a")).toEqual([other, one]);
  // The third key keeps its account.
  accounts.bind("http://a", "one", other);
  expect(["one", "third", "other"].map((key) => accounts.find("http://a", key))).toEqual([other, one, other]);
  accounts.bind("http://a", "third", other);
  expect(accounts.at("http://a")).toEqual([other]);
});

test("an upload without an outcome is retried with its key while the key is young enough", () => {
  const begin = (newKey: string, at: number, notBefore: number) =>
    state.uploads.begin(1, "digest", { newKey, at, notBefore });
  expect(begin("one", 100, 0)).toEqual({ key: "one", begunAt: 100 });
  expect(begin("two", 200, 100)).toEqual({ key: "one", begunAt: 100 });
  expect(begin("three", 300, 101)).toEqual({ key: "three", begunAt: 300 });
  expect(state.uploads.findImage(1, "digest")).toBe(null);
  state.uploads.done(1, "digest", "image");
  expect(state.uploads.findImage(1, "digest")).toBe("image");
  expect(state.uploads.findImage(2, "digest")).toBe(null);
  // Its outcome is known.
  expect(begin("four", 400, 0)).toEqual({ key: "four", begunAt: 400 });
  state.uploads.forget(1, "digest");
  expect(state.uploads.findImage(1, "digest")).toBe(null);
  expect(begin("five", 500, 0)).toEqual({ key: "five", begunAt: 500 });
});

test("sent imports are listed newest first, of one base URL or of all", () => {
  const sent = { runId: "run", file: "f.csv", kind: "import", variant: "upsert", rows: 3, status: "queued" };
  const [a, b, c] = [
    { ...sent, id: "a", baseUrl: "http://x", at: 10 },
    { ...sent, id: "b", baseUrl: "http://y", at: 30 },
    { ...sent, id: "c", baseUrl: "http://x", at: 20 },
  ];
  for (const one of [a, b, c]) state.sentJobs.add(one, Uint32Array.of(2, 3, 7));
  const exported = { ...a, id: "d", kind: "export", variant: "zip" };
  state.sentJobs.add(exported, new Uint32Array());
  expect([...state.sentJobs.list("export", "http://x")]).toEqual([exported]);
  expect([...state.sentJobs.list("import", null)]).toEqual([b, c, a]);
  expect([...state.sentJobs.list("import", "http://x")]).toEqual([c, a]);
  state.sentJobs.seen("a", "done");
  expect(state.sentJobs.find("a")).toEqual({ ...a, status: "done" });
  expect(state.sentJobs.find("none")).toBe(null);
  expect(state.sentJobs.lines("a")).toEqual(Uint32Array.of(2, 3, 7));
  expect(state.sentJobs.lines("none")).toBe(null);
  state.sentJobs.add({ ...a, at: 40 }, new Uint32Array());
  expect([...state.sentJobs.list("import", null)].map(({ id, status }) => [id, status])).toEqual([
    ["a", "queued"],
    ["b", "queued"],
    ["c", "queued"],
  ]);
});

test("the state keeps marks by base URL and name, the last value of each", () => {
  const { marks } = state;
  expect(marks.get("http://x", "export a")).toBe(null);
  marks.set("http://x", "export b", "1");
  marks.set("http://x", "export a", "2");
  marks.set("http://x", "export a", "3");
  marks.set("http://y", "export a", "4");
  marks.set("http://x", "exporT%", "5");
  expect(marks.get("http://x", "export a")).toBe("3");
  expect(marks.list("http://x", "export ")).toEqual([
    { name: "export a", value: "3" },
    { name: "export b", value: "1" },
  ]);
  marks.remove("http://x", "export a");
  expect(marks.get("http://x", "export a")).toBe(null);
  expect(marks.get("http://y", "export a")).toBe("4");
});

test("raises a mark unless a later one was set", () => {
  const { marks } = state;
  marks.raise("http://x", "since", "2026-01-05");
  marks.raise("http://x", "since", "2026-01-07");
  marks.raise("http://x", "since", "2026-01-06");
  expect(marks.get("http://x", "since")).toBe("2026-01-07");
  marks.raise("http://y", "since", "2026-01-06");
  expect(marks.get("http://y", "since")).toBe("2026-01-06");
});

test("the state keeps the later of two decisions about an image by its time, and says which ones it turned", () => {
  const { decisions } = state;
  const none = { reversed: [], later: [], sameTime: [] };
  const anna = { run: "R1", reviewer: "Anna" } as const;
  const one = { ...anna, task: "T1", decision: "reject", note: "sleeve", at: 20 } as const;
  const other = { ...anna, task: "T2", decision: "approve", note: "", at: 20 } as const;
  expect(decisions.of("http://x", "T1")).toBe(null);
  expect(decisions.record("http://x", [one, other])).toEqual(none);
  const earlier = { ...one, decision: "approve", at: 19 } as const;
  expect(decisions.record("http://x", [earlier])).toEqual({ ...none, later: [one] });
  expect(decisions.of("http://x", "T1")).toEqual(one);
  expect(decisions.record("http://x", [{ ...one, note: "older", at: 19 }])).toEqual(none);
  expect(decisions.of("http://x", "T1")).toEqual(one);
  // Of equal times the rejection counts, whichever was recorded first.
  expect(decisions.record("http://x", [{ ...one, decision: "approve" }])).toEqual({
    ...{ ...none, sameTime: [one] },
  });
  const rejected = { ...other, decision: "reject" } as const;
  expect(decisions.record("http://z", [other])).toEqual(none);
  expect(decisions.record("http://z", [rejected])).toEqual({ ...none, reversed: [other] });
  const again = { ...one, decision: "approve", note: "", at: 21 } as const;
  expect(decisions.record("http://x", [again, other])).toEqual({ ...none, reversed: [one] });
  expect(decisions.of("http://x", "T1")).toEqual(again);
  expect(decisions.isRejected("http://x", "T1")).toBe(false);
  expect(decisions.record("http://y", [one])).toEqual(none);
  expect(decisions.isRejected("http://y", "T1")).toBe(true);
  expect(decisions.of("http://x", "T2")).toEqual(other);
});

describe("what the rows of a file said", () => {
  const row = (reference: string, text: string, productId = `product of ${reference}`) => ({
    ...{ reference, productId, exported: Buffer.from("x"), said: Buffer.from(text) },
  });

  test("is kept by file and reference, until a row says something else", () => {
    const { ledger } = state;
    expect(ledger.findFile(1, "/a.csv")).toBeNull();
    const file = ledger.openFile(1, "/a.csv", 1);
    const other = ledger.openFile(1, "/b.csv", 2);
    expect([ledger.findFile(1, "/a.csv"), ledger.findFile(2, "/a.csv")]).toEqual([file, null]);
    expect([ledger.isSaid(file), ledger.said(file, "A")]).toEqual([false, null]);
    ledger.say(file, [row("A", "red"), row("B", "blue")]);
    ledger.say(other, [row("A", "green")]);
    ledger.say(file, [row("A", "black", "P")]);
    expect(ledger.said(file, "A")).toEqual(row("A", "black", "P"));
    expect(ledger.said(file, "B")).toEqual(row("B", "blue"));
    expect(ledger.said(other, "A")).toEqual(row("A", "green"));
  });

  test("is forgotten with the product, in the files of its account alone", () => {
    const { ledger } = state;
    const [own, others] = [ledger.openFile(1, "/a.csv", 1), ledger.openFile(2, "/a.csv", 1)];
    ledger.say(own, [row("A", "red", "P"), row("B", "red", "Q")]);
    ledger.say(others, [row("A", "red", "P")]);
    state.changes.undone(1, "run", "P", true, {});
    expect([ledger.said(own, "A"), ledger.said(own, "B")?.productId]).toEqual([null, "Q"]);
    expect(ledger.said(others, "A")?.productId).toBe("P");
  });

  test("is kept of the last 20 files", () => {
    const { ledger } = state;
    const files = Array.from({ length: 21 }, (_, at) => ledger.openFile(1, `/${at}.csv`, at));
    for (const file of files.slice(1)) ledger.say(file, [row("A", "red")]);
    expect(ledger.findFile(1, "/0.csv")).toBeNull();
    // Used again, the oldest one is the newest.
    ledger.openFile(1, "/1.csv", 30);
    ledger.openFile(1, "/new.csv", 31);
    expect([ledger.findFile(1, "/1.csv"), ledger.findFile(1, "/2.csv")]).toEqual([files[1], null]);
    expect(ledger.said(files[2]!, "A")).toBeNull();
  });
});

describe("products that were read", () => {
  test("are found by reference and ID, and those looked for in vain are told from others", () => {
    const { readProducts } = state;
    expect([readProducts.of("A"), readProducts.byId("P")]).toEqual([undefined, null]);
    readProducts.keep({ id: "P", reference: "A", text: "one" });
    readProducts.lack("B");
    expect([readProducts.of("A"), readProducts.of("B"), readProducts.of("C")]).toEqual([
      "one",
      null,
      undefined,
    ]);
    expect(readProducts.byId("P")).toEqual({ reference: "A", text: "one" });
    // It has another reference now.
    readProducts.keep({ id: "P", reference: "C", text: "two" });
    expect([readProducts.of("A"), readProducts.of("C")]).toEqual([undefined, "two"]);
    readProducts.clear();
    expect(readProducts.of("C")).toBeUndefined();
  });
});

describe("the list of runs", () => {
  const run = (at: number) => ({
    ...{ id: `run ${at}`, account: 1, kind: "import", identity: `file ${at}`, file: "f.csv", options: {} },
    startedAt: at,
  });
  const job = (at: number) => ({
    ...{ id: `job ${at}`, kind: "import", baseUrl: "http://x", runId: `run ${at}`, file: "f.csv" },
    ...{ variant: "upsert", rows: 1, at, status: "completed" },
  });
  const listed = () => state.runs.ofKind("import").map(({ id }) => id);

  test("has the last 1,000 runs with their jobs, by their order and not by the clock", () => {
    for (let at = 0; at < listedRuns + 3; at++) {
      // The second one began in a night with a clock that was years ahead.
      state.runs.begin({ ...run(at), startedAt: at === 1 ? 9e12 : at });
      state.sentJobs.add(job(at), Uint32Array.of(2));
      state.runs.end(`run ${at}`, at);
    }
    expect(listed()).toHaveLength(listedRuns);
    expect([listed().at(0), listed().at(-1)]).toEqual([`run ${listedRuns + 2}`, "run 3"]);
    expect(state.sentJobs.find("job 2")).toBe(null);
    expect(state.sentJobs.find("job 3")).toMatchObject({ id: "job 3" });
  });

  test("keeps older runs whose batches or changes are kept, and none that was killed before it sent anything", () => {
    for (const at of [0, 1, 2]) state.runs.begin(run(at));
    const batch = { ...rowsOfBatch, run: "run 1", index: 0, references: [] };
    state.batches.begin(1, { ...batch, looks: [{ digest: "a look", replaces: null, isShared: true }] });
    state.changes.read(1, "run 2", [{ productId: "P", reference: "A", before: "{}" }]);
    for (const at of [1, 2]) state.runs.end(`run ${at}`, at);
    for (let at = 3; at < listedRuns + 10; at++) {
      state.runs.begin(run(at));
      state.runs.end(`run ${at}`, at);
    }
    expect(listed().slice(-3)).toEqual(["run 10", "run 2", "run 1"]);
    expect(listed()).not.toContain("run 0");
    expect(state.looks.of(1, "a look")).toMatchObject([{ run: "run 1" }]);
  });
});
