import { createHash } from "node:crypto";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { lookDigest } from "../../src/state/looks.ts";
import { migrate, migrations } from "../../src/state/migrations.ts";
import {
  type Connect,
  type Database,
  loadConnect,
  placesToBytes,
  type Value,
} from "../../src/state/sqlite.ts";
import { openState } from "../../src/state/state.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const service = "http://service.example";
const photo = "0a".repeat(32);
const bytes = (text: string): Buffer => Buffer.from(text);
const places = (...numbers: number[]): Buffer => placesToBytes(Uint32Array.from(numbers));
const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest();

function add(db: Database, table: string, row: Record<string, Value>): void {
  const names = Object.keys(row);
  db.statement(`INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`).run(
    ...Object.values(row),
  );
}

const call = { run: "run-1", account: 7, bytes: 4, digest: sha256("rows") };
const patch = { run: "run-1", product: bytes("P4") };

/** The data that each version added to the one before, one step of `migrations` each. */
const news: readonly ((db: Database) => void)[] = [
  (db) => {
    add(db, "account", { id: 7, base_url: service, looked_at: 5000 });
    add(db, "account_key", { base_url: service, fingerprint: "print", account: 7 });
    const run = { account: 7, identity: "identity", file: "a.csv", options: '{"mode":"upsert"}' };
    add(db, "run", { number: 1, id: "run-1", started_at: 1000, ...run });
    const accepted = { number: 1, place: 0, key: "key-0", state: "accepted", import_id: "import-0" };
    add(db, "call", { ...call, ...accepted, sent_at: 2000, rows: places(0, 1), lines: places(2, 4) });
    const sent = { number: 2, place: 1, key: "key-1", state: "sent" };
    add(db, "call", { ...call, ...sent, sent_at: 3000, rows: places(2), lines: places(5) });
    add(db, "body", { call: 2, bytes: bytes("rows") });
    add(db, "memo", { call: 1, bytes: bytes("memo of A and B") });
    add(db, "memo", { call: 2, bytes: bytes("memo of C") });
    for (const [reference, of, place] of [
      ["A", 1, 0],
      ["B", 1, 1],
      ["C", 2, 0],
    ] as const) {
      add(db, "pending", { account: 7, reference: bytes(reference), call: of, place });
    }
    add(db, "patch", { ...patch, row: 3, line: 6, reference: bytes("D") });
    const known = { fields: bytes("fields"), sources: bytes("source of photo.") };
    add(db, "ledger", { account: 7, reference: bytes("D"), product: bytes("P4"), ...known });
    add(db, "upload", { account: 7, sha256: photo, image: "image-1" });
    add(db, "upload", { account: 7, sha256: "unanswered", key: "key-of-photo", begun_at: 900 });
    const imported = { id: "import-0", base_url: service, run: "run-1", file: "a.csv", mode: "upsert" };
    add(db, "sent_import", { number: 1, ...imported, rows: 2, at: 2100, status: "processing" });
  },
  (db) =>
    add(db, "patch", { ...patch, row: 4, line: 7, reference: bytes("E"), is_done: 0, memo: bytes("m") }),
  (db) => db.execute("UPDATE account SET last_run = 'run-1'"),
  (db) => db.execute("UPDATE call SET sent_at_service = 2500"),
  (db) => db.execute("UPDATE account SET seen_product = CAST('P4' AS BLOB)"),
  (db) => {
    const queued = { id: "task-0", base_url: service, run: "run-2", file: "t.csv", variant: "tryon" };
    add(db, "sent_job", { number: 2, ...queued, kind: "tryon", rows: 1, at: 2200, status: "queued" });
  },
  (db) => add(db, "lost_reference", { account: 7, reference: bytes("gone") }),
  (db) => add(db, "mark", { base_url: service, name: "export", value: "2026-01-05" }),
  (db) => db.execute("UPDATE account SET last_run = 'run-1'"),
  (db) => db.execute("UPDATE sent_job SET lines = '2 4'"),
  (db) => {
    const decided = { base_url: service, task: "task-0", run: "run-2", decision: "reject" };
    add(db, "decision", { ...decided, note: "colors", at: 2300 });
  },
  (db) => db.execute("UPDATE batch SET is_key_taken = 1"),
  (db) =>
    add(db, "change", {
      ...{ run: "run-1", product: bytes("P4"), account: 7, reference: bytes("D"), action: "updated" },
      ...{ before: "{}", after: bytes("after"), photos: "image-1", sources: bytes("before") },
    }),
  (db) => {
    add(db, "said_file", { id: 1, account: 7, place: "/shop/a.csv", at: 2200 });
    const row = { reference: bytes("D"), product: bytes("P4"), exported: bytes(""), said: bytes("said") };
    add(db, "said", { file: 1, ...row });
    add(db, "failure", { file: 1, reference: bytes("E"), reason: bytes("gone"), runs: 2, run: "run-1" });
  },
  (db) => db.execute("UPDATE change SET exported = x'01', said = x'02'"),
  (db) => {
    const run = { account: 7, kind: "tryon", identity: "looks", file: "looks.csv", options: "{}" };
    add(db, "run", { number: 2, id: "run-2", started_at: 1500, ...run });
    const batch = { run: "run-2", account: 7, bytes: 4, digest: sha256("looks") };
    const [one, other] = [rowOf("P4", ["P5", "P6"]), { ...rowOf("P5"), replaces: "task-7" }];
    const accepted = { number: 3, place: 0, key: "key-2", state: "accepted", jobs: "task-0 task-1" };
    add(db, "batch", { ...batch, ...accepted, sent_at: 1600, rows: places(0, 1), lines: places(2, 3) });
    add(db, "memo", { batch: 3, bytes: bytes(JSON.stringify([one, other])) });
    const sent = { number: 4, place: 1, key: "key-3", state: "sent", jobs: null };
    add(db, "batch", { ...batch, ...sent, sent_at: 1700, rows: places(2), lines: places(4) });
    add(db, "memo", { batch: 4, bytes: bytes(JSON.stringify([rowOf("P6")])) });
  },
];

/** An image as the runs of earlier versions have recorded it. */
function rowOf(productId: string, stylings: readonly string[] = []) {
  const look = { kind: "tryon", line: 2, combination: 0, background: "studio", angleShot: "half-front" };
  const product = { productId, productReference: null, modelId: "M1", modelName: "Amara", stylings };
  return { ...look, ...product, lookAtCamera: true, subtype: null, style: null };
}

/** Tables of earlier versions whose data is kept elsewhere now, or not needed. */
const gone: ReadonlySet<string> = new Set(["pending", "lost_reference"]);

/** A state as version `version` of this program left it, with rows in it. */
function makeEarlier(version: number, connect: Connect): string {
  const path = join(temporaryFolder(), "default.db");
  const db = connect(path);
  for (const [at, fill] of news.slice(0, version).entries()) {
    migrate(db, migrations.slice(0, at + 1));
    db.transaction(() => fill(db));
  }
  db.close();
  return path;
}

/** Every row of the file, by table, in the given columns (default: all). */
function rowsOf(path: string, connect: Connect, columns?: ReadonlyMap<string, string>) {
  const db = connect(path);
  const found = new Map<string, { columns: string; rows: unknown[] }>();
  const tables = db.statement<[string]>(
    "SELECT name FROM state.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
  );
  for (const [table] of tables.all()) {
    const all = db.statement<[string]>("SELECT group_concat(name) FROM pragma_table_info(?, 'state')");
    const asked = columns === undefined ? all.get(table)![0] : columns.get(table);
    if (asked === undefined) continue;
    found.set(table, { columns: asked, rows: db.statement(`SELECT ${asked} FROM state.${table}`).all() });
  }
  db.close();
  return found;
}

/** The names of version 6 for tables and columns of earlier versions. */
const renamed = (names: string): string =>
  names
    .replace(/\bcall\b/, "batch")
    .replace(/\bimport_id\b/, "jobs")
    .replace(/\bsent_import\b/, "sent_job")
    .replace(/\bmode\b/, "variant");

test("every version before this one has rows in the test", () => {
  expect(news).toHaveLength(migrations.length - 1);
});

test.each(news.map((_, index) => index + 1))(
  "opening a state of version %i keeps all of its data",
  async (version) => {
    const connect = await loadConnect();
    const path = makeEarlier(version, connect);
    const before = rowsOf(path, connect);
    const columns = new Map([...before].map(([table, one]) => [renamed(table), renamed(one.columns)]));

    const state = await openState(path, { clock: systemClock() });
    expect(state.accounts.find(service, "print")).toBe(7);
    expect(state.ledger.lookedAt(7)).toBe(5000);
    expect(state.runs.lastWriter(7)).toBe(version < 3 ? null : "run-1");
    const run = {
      id: "run-1",
      account: 7,
      kind: "import",
      identity: "identity",
      file: "a.csv",
      startedAt: 1000,
    };
    expect(state.runs.ofKind("import")).toEqual([{ ...run, options: { mode: "upsert" }, isEnded: false }]);
    const sentAtService = version < 4 ? null : 2500;
    const known = { run: "run-1", bytes: 4, sentAtService, isKeyTaken: version >= 12 };
    expect(state.batches.of("run-1")).toEqual([
      {
        ...{ ...known, index: 0, idempotencyKey: "key-0", state: "accepted", jobs: ["import-0"] },
        ...{ sentAt: 2000, rows: Uint32Array.of(0, 1), lines: Uint32Array.of(2, 4) },
      },
      {
        ...{ ...known, index: 1, idempotencyKey: "key-1", state: "sent", jobs: [] },
        ...{ sentAt: 3000, rows: Uint32Array.of(2), lines: Uint32Array.of(5) },
      },
    ]);
    expect([0, 1].map((index) => state.batches.references("run-1", index))).toEqual([["A", "B"], ["C"]]);
    expect([0, 1].map((index) => String(state.batches.memo("run-1", index)))).toEqual([
      "memo of A and B",
      "memo of C",
    ]);
    expect(String(state.batches.body("run-1", 1))).toBe("rows");
    // The first version recorded a PATCH only after its response, and nothing else.
    expect(state.doneRows.of("run-1")).toEqual([{ rowIndex: 3, line: 6, reference: "D", productId: "P4" }]);
    expect(state.doneRows.patchingRows("run-1")).toEqual(version < 2 ? [] : [4]);
    expect(state.ledger.get(7, "D")).toEqual({
      ...{ reference: "D", productId: "P4", fields: bytes("fields") },
      // Earlier versions did not keep the image.
      photos: [{ source: bytes("source of photo."), image: null }],
    });
    expect(state.uploads.findImage(7, photo)).toBe("image-1");
    expect(state.uploads.begin(7, "unanswered", { newKey: "new", at: 1000, notBefore: 900 })).toEqual({
      key: "key-of-photo",
      begunAt: 900,
    });
    const imported = { id: "import-0", kind: "import", baseUrl: service, runId: "run-1", file: "a.csv" };
    expect([...state.sentJobs.list("import", service)]).toEqual([
      { ...imported, variant: "upsert", rows: 2, at: 2100, status: "processing" },
    ]);
    state.close();

    const rows = ({ rows }: { rows: unknown[] }) => rows;
    expect(new Map([...rowsOf(path, connect, columns)].map(([table, one]) => [table, rows(one)]))).toEqual(
      new Map(
        [...before].filter(([table]) => !gone.has(table)).map(([table, one]) => [renamed(table), rows(one)]),
      ),
    );
  },
);

test("a state of an earlier version knows the looks of its runs, with their tasks and decisions", async () => {
  const path = makeEarlier(news.length, await loadConnect());
  const { looks, close } = await openState(path, { clock: systemClock() });
  const image = { run: "run-2", isUnanswered: false, status: "queued", isRejected: false };
  expect(looks.of(7, lookDigest(rowOf("P4", ["P6", "P5"])))).toEqual([
    { ...image, task: "task-0", isRejected: true },
  ]);
  expect(looks.of(7, lookDigest(rowOf("P4")))).toEqual([]);
  expect(looks.of(8, lookDigest(rowOf("P5")))).toEqual([]);
  expect(looks.replacing(7, "task-7")).toEqual([{ ...image, task: "task-1" }]);
  expect(looks.of(7, lookDigest(rowOf("P6")))).toEqual([{ ...image, isUnanswered: true, task: null }]);
  close();
});
