import { createHash } from "node:crypto";
import type { Batches, DoneRow, StoredBatch } from "./batches.ts";
import { placesFromBytes, placesToBytes } from "./places.ts";
import type { Run } from "./runs.ts";
import type { Database } from "./sqlite.ts";
import { stateError } from "./state-error.ts";
import type { LedgerWithin } from "./stored-ledger.ts";
import { type RunRow, runColumns, runWidth, toRun } from "./stored-runs.ts";
import { fromKey, toKey } from "./text-key.ts";

type BatchRow = [
  run: string,
  place: number,
  key: string,
  state: string,
  jobs: string | null,
  bytes: number,
  sentAt: number,
  sentAtService: number | null,
  rows: Buffer,
  lines: Buffer,
];
type Found = [number: number, account: number, runEndedAt: number | null];
const batchColumns =
  "batch.run, batch.place, batch.key, batch.state, batch.jobs, batch.bytes, batch.sent_at, batch.sent_at_service, batch.rows, batch.lines";

const toBatch = ([
  run,
  index,
  idempotencyKey,
  state,
  jobs,
  bytes,
  sentAt,
  sentAtService,
  rows,
  lines,
]: BatchRow): StoredBatch => ({
  run,
  index,
  idempotencyKey,
  state: state as StoredBatch["state"],
  jobs: jobs === null || jobs === "" ? [] : jobs.split(" "),
  rows: placesFromBytes(rows),
  lines: placesFromBytes(lines),
  bytes,
  sentAt,
  sentAtService,
});

/** The batches of a state, whose results go into its ledger in the same transaction. */
export function storedBatches(db: Database, path: string | null, ledger: LedgerWithin): Batches {
  const of = db.statement<BatchRow>(`SELECT ${batchColumns} FROM batch WHERE run = ? ORDER BY place`);
  const add = db.statement<[number]>(
    `INSERT INTO batch (run, place, account, key, state, bytes, digest, sent_at, sent_at_service, rows, lines)
     VALUES (?, ?, ?, ?, 'sent', ?, ?, ?, ?, ?, ?) RETURNING number`,
  );
  const addBody = db.statement("INSERT INTO body (batch, bytes) VALUES (?, ?)");
  const addMemo = db.statement("INSERT INTO memo (batch, bytes) VALUES (?, ?)");
  const addPending = db.statement(
    "INSERT INTO pending (account, reference, batch, place) VALUES (?, ?, ?, ?)",
  );
  const heldElsewhere = db.statement<[held: number]>(
    `SELECT 1 FROM pending JOIN batch ON batch.number = pending.batch
     JOIN run ON run.id = batch.run JOIN run AS own ON own.id = ?3 AND own.kind = run.kind
     WHERE pending.account = ?1 AND pending.reference = ?2 AND batch.run <> ?3 LIMIT 1`,
  );
  const find = db.statement<Found>(
    `SELECT batch.number, batch.account, run.ended_at FROM batch JOIN run ON run.id = batch.run
     WHERE batch.run = ? AND batch.place = ?`,
  );
  const body = db.statement<[bytes: Buffer, digest: Buffer]>(
    "SELECT body.bytes, batch.digest FROM batch JOIN body ON body.batch = batch.number WHERE run = ? AND place = ?",
  );
  const memo = db.statement<[Buffer]>(
    "SELECT memo.bytes FROM batch JOIN memo ON memo.batch = batch.number WHERE run = ? AND place = ?",
  );
  const accept = db.statement("UPDATE batch SET state = 'accepted', jobs = ? WHERE number = ?");
  const settle = db.statement("UPDATE batch SET state = 'settled' WHERE number = ?");
  const remove = db.statement("DELETE FROM batch WHERE number = ?");
  const removeBody = db.statement("DELETE FROM body WHERE batch = ?");
  const removePending = db.statement("DELETE FROM pending WHERE batch = ?");
  const unsettledElsewhere = db.statement<[...RunRow, ...BatchRow]>(
    `SELECT ${runColumns}, ${batchColumns} FROM batch JOIN run ON run.id = batch.run
     WHERE batch.account = ? AND run.kind = ? AND batch.run <> ? AND batch.state <> 'settled' ORDER BY batch.sent_at, batch.number`,
  );
  const ofKind = db.statement<[run: string, place: number, jobs: string]>(
    `SELECT batch.run, batch.place, batch.jobs FROM batch JOIN run ON run.id = batch.run
     WHERE run.kind = ? AND batch.jobs <> '' ORDER BY batch.number`,
  );
  const withJobs = db.statement<[kind: string, jobs: string]>(
    `SELECT run.kind, batch.jobs FROM batch JOIN run ON run.id = batch.run
     WHERE batch.account = ? AND batch.jobs <> '' ORDER BY batch.number DESC LIMIT ?`,
  );
  const anyUnsettled = db.statement("SELECT 1 FROM batch WHERE account = ? AND state <> 'settled' LIMIT 1");
  const references = db.statement<[Buffer]>(
    `SELECT pending.reference FROM batch JOIN pending ON pending.batch = batch.number
     WHERE run = ? AND batch.place = ? ORDER BY pending.place`,
  );

  const addPatch = db.statement(
    "INSERT OR REPLACE INTO patch (run, row, line, reference, product, memo, is_done) VALUES (?, ?, ?, ?, ?, ?, ?)",
  );
  const patches = db.statement<[row: number, line: number, reference: Buffer, product: Buffer, memo: Buffer]>(
    "SELECT row, line, reference, product, memo FROM patch WHERE run = ? AND is_done = 1 ORDER BY line, row",
  );
  const patching = db.statement<[row: number]>("SELECT row FROM patch WHERE run = ? AND is_done = 0");

  const change = (runId: string, index: number, work: (...batch: Found) => void): void =>
    db.transaction(() => {
      const found = find.get(runId, index);
      if (found === undefined) throw new Error(`run ${runId} has no batch ${index}`);
      work(...found);
    });
  const forget = (number: number): void => {
    removeBody.run(number);
    removePending.run(number);
    remove.run(number);
  };
  const addRow = (runId: string, { row, line, reference, productId, memo }: DoneRow, isDone: boolean): void =>
    void addPatch.run(runId, row, line, toKey(reference), toKey(productId), memo, Number(isDone));
  const isHeldElsewhere = (account: number, runId: string, reference: string): boolean =>
    heldElsewhere.get(account, toKey(reference), runId) !== undefined;
  return {
    of: (runId) => of.all(runId).map(toBatch),
    begin(account, batch) {
      const digest = createHash("sha256").update(batch.body).digest();
      return db.transaction(() => {
        const held = batch.exclusive
          ? batch.references.find((reference) => isHeldElsewhere(account, batch.run, reference))
          : undefined;
        if (held !== undefined) return held;
        const [number] = add.get(
          batch.run,
          batch.index,
          account,
          batch.idempotencyKey,
          batch.body.length,
          digest,
          batch.sentAt,
          batch.sentAtService,
          placesToBytes(batch.rows),
          placesToBytes(batch.lines),
        )!;
        addBody.run(number, batch.body);
        addMemo.run(number, batch.memo);
        for (const [place, reference] of batch.references.entries()) {
          addPending.run(account, toKey(reference), number, place);
        }
        return null;
      });
    },
    body(runId, index) {
      const row = body.get(runId, index);
      if (row === undefined) throw new Error(`run ${runId} keeps no bytes of a batch ${index}`);
      const [bytes, digest] = row;
      if (!createHash("sha256").update(bytes).digest().equals(digest)) {
        throw stateError("state_corrupt", path, {
          reason: "the bytes of a batch differ from those recorded",
        });
      }
      return bytes;
    },
    memo(runId, index) {
      const row = memo.get(runId, index);
      if (row === undefined) throw new Error(`run ${runId} keeps no memo of a batch ${index}`);
      return row[0];
    },
    accepted: (runId, index, jobs) =>
      change(runId, index, (number) => {
        accept.run(jobs.join(" "), number);
        removeBody.run(number);
      }),
    dropped: (runId, index) => change(runId, index, forget),
    decided: (runId, index, entries, done) =>
      change(runId, index, (number, account) => {
        ledger.put(account, entries);
        for (const row of done) addRow(runId, row, true);
        forget(number);
      }),
    settled: (runId, index, entries) =>
      change(runId, index, (number, account, runEndedAt) => {
        ledger.put(account, entries);
        removeBody.run(number);
        removePending.run(number);
        // A replaced run whose last unknown outcome was decided in another run: its report is no longer
        // needed.
        if (runEndedAt === null) settle.run(number);
        else remove.run(number);
      }),
    unsettledElsewhere: ({ account, kind, runId }) =>
      unsettledElsewhere.all(account, kind, runId).map((row): { run: Run; batch: StoredBatch } => ({
        run: toRun(row.slice(0, runWidth) as RunRow),
        batch: toBatch(row.slice(runWidth) as BatchRow),
      })),
    withJobs: (kind) => ofKind.all(kind).map(([run, index, jobs]) => ({ run, index, jobs: jobs.split(" ") })),
    lastJobs: (account, most) =>
      withJobs
        .all(account, most)
        .flatMap(([kind, jobs]) => jobs.split(" ").map((id) => ({ kind, id })))
        .slice(0, most),
    anyUnsettled: (account) => anyUnsettled.get(account) !== undefined,
    references: (runId, index) => references.all(runId, index).map(([reference]) => fromKey(reference)),
    patching: (runId, row) => addRow(runId, row, false),
    patchingRows: (runId) => patching.all(runId).map(([row]) => row),
    patched(account, runId, row, seen) {
      db.transaction(() => {
        addRow(runId, row, true);
        ledger.see(account, seen);
      });
    },
    doneRows: (runId) =>
      patches.all(runId).map(([row, line, reference, product, memo]) => ({
        row,
        line,
        reference: fromKey(reference),
        productId: fromKey(product),
        memo,
      })),
  };
}
