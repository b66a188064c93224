import { createHash } from "node:crypto";
import type { Calls, DoneRow, StoredCall } from "./calls.ts";
import { placesFromBytes, placesToBytes } from "./places.ts";
import type { Run } from "./runs.ts";
import type { Database } from "./sqlite.ts";
import { stateError } from "./state-error.ts";
import type { LedgerWithin } from "./stored-ledger.ts";
import { type RunRow, runColumns, runWidth, toRun } from "./stored-runs.ts";
import { fromKey, toKey } from "./text-key.ts";

type CallRow = [
  run: string,
  place: number,
  key: string,
  state: string,
  importId: string | null,
  bytes: number,
  sentAt: number,
  sentAtService: number | null,
  rows: Buffer,
  lines: Buffer,
];
type Found = [number: number, account: number, runEndedAt: number | null];
const callColumns =
  "call.run, call.place, call.key, call.state, call.import_id, call.bytes, call.sent_at, call.sent_at_service, call.rows, call.lines";

const toCall = ([
  run,
  index,
  idempotencyKey,
  state,
  importId,
  bytes,
  sentAt,
  sentAtService,
  rows,
  lines,
]: CallRow): StoredCall => ({
  run,
  index,
  idempotencyKey,
  state: state as StoredCall["state"],
  importId,
  rows: placesFromBytes(rows),
  lines: placesFromBytes(lines),
  bytes,
  sentAt,
  sentAtService,
});

/** The calls of a state, whose results go into its ledger within the same transaction. */
export function storedCalls(db: Database, path: string | null, ledger: LedgerWithin): Calls {
  const of = db.statement<CallRow>(`SELECT ${callColumns} FROM call WHERE run = ? ORDER BY place`);
  const add = db.statement<[number]>(
    `INSERT INTO call (run, place, account, key, state, bytes, digest, sent_at, sent_at_service, rows, lines)
     VALUES (?, ?, ?, ?, 'sent', ?, ?, ?, ?, ?, ?) RETURNING number`,
  );
  const addBody = db.statement("INSERT INTO body (call, bytes) VALUES (?, ?)");
  const addMemo = db.statement("INSERT INTO memo (call, bytes) VALUES (?, ?)");
  const addPending = db.statement(
    "INSERT INTO pending (account, reference, call, place) VALUES (?, ?, ?, ?)",
  );
  const heldElsewhere = db.statement<[held: number]>(
    `SELECT 1 FROM pending JOIN call ON call.number = pending.call
     WHERE pending.account = ? AND pending.reference = ? AND call.run <> ? LIMIT 1`,
  );
  const find = db.statement<Found>(
    `SELECT call.number, call.account, run.ended_at FROM call JOIN run ON run.id = call.run
     WHERE call.run = ? AND call.place = ?`,
  );
  const body = db.statement<[bytes: Buffer, digest: Buffer]>(
    "SELECT body.bytes, call.digest FROM call JOIN body ON body.call = call.number WHERE run = ? AND place = ?",
  );
  const memo = db.statement<[Buffer]>(
    "SELECT memo.bytes FROM call JOIN memo ON memo.call = call.number WHERE run = ? AND place = ?",
  );
  const accept = db.statement("UPDATE call SET state = 'accepted', import_id = ? WHERE number = ?");
  const settle = db.statement("UPDATE call SET state = 'settled' WHERE number = ?");
  const remove = db.statement("DELETE FROM call WHERE number = ?");
  const removeBody = db.statement("DELETE FROM body WHERE call = ?");
  const removePending = db.statement("DELETE FROM pending WHERE call = ?");
  const unsettledElsewhere = db.statement<[...RunRow, ...CallRow]>(
    `SELECT ${runColumns}, ${callColumns} FROM call JOIN run ON run.id = call.run
     WHERE call.account = ? AND call.run <> ? AND call.state <> 'settled' ORDER BY call.sent_at, call.number`,
  );
  const references = db.statement<[Buffer]>(
    `SELECT pending.reference FROM call JOIN pending ON pending.call = call.number
     WHERE run = ? AND call.place = ? ORDER BY pending.place`,
  );

  const addPatch = db.statement(
    "INSERT OR REPLACE INTO patch (run, row, line, reference, product, memo, is_done) VALUES (?, ?, ?, ?, ?, ?, ?)",
  );
  const patches = db.statement<[row: number, line: number, reference: Buffer, product: Buffer, memo: Buffer]>(
    "SELECT row, line, reference, product, memo FROM patch WHERE run = ? AND is_done = 1 ORDER BY line, row",
  );
  const patching = db.statement<[row: number]>("SELECT row FROM patch WHERE run = ? AND is_done = 0");

  const change = (runId: string, index: number, work: (...call: Found) => void): void =>
    db.transaction(() => {
      const found = find.get(runId, index);
      if (found === undefined) throw new Error(`run ${runId} has no call ${index}`);
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
    of: (runId) => of.all(runId).map(toCall),
    begin(account, call) {
      const digest = createHash("sha256").update(call.body).digest();
      return db.transaction(() => {
        const held = call.exclusive
          ? call.references.find((reference) => isHeldElsewhere(account, call.run, reference))
          : undefined;
        if (held !== undefined) return held;
        const [number] = add.get(
          call.run,
          call.index,
          account,
          call.idempotencyKey,
          call.body.length,
          digest,
          call.sentAt,
          call.sentAtService,
          placesToBytes(call.rows),
          placesToBytes(call.lines),
        )!;
        addBody.run(number, call.body);
        addMemo.run(number, call.memo);
        for (const [place, reference] of call.references.entries()) {
          addPending.run(account, toKey(reference), number, place);
        }
        return null;
      });
    },
    body(runId, index) {
      const row = body.get(runId, index);
      if (row === undefined) throw new Error(`run ${runId} keeps no bytes of a call ${index}`);
      const [bytes, digest] = row;
      if (!createHash("sha256").update(bytes).digest().equals(digest)) {
        throw stateError("state_corrupt", path, {
          reason: "the bytes of a call are not those that were written",
        });
      }
      return bytes;
    },
    memo(runId, index) {
      const row = memo.get(runId, index);
      if (row === undefined) throw new Error(`run ${runId} keeps no memo of a call ${index}`);
      return row[0];
    },
    accepted: (runId, index, importId) =>
      change(runId, index, (number) => {
        accept.run(importId, number);
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
        // A run that was given up, whose last doubts another one has ended: nobody asks for it any more.
        if (runEndedAt === null) settle.run(number);
        else remove.run(number);
      }),
    unsettledElsewhere: (account, runId) =>
      unsettledElsewhere.all(account, runId).map((row): { run: Run; call: StoredCall } => ({
        run: toRun(row.slice(0, runWidth) as RunRow),
        call: toCall(row.slice(runWidth) as CallRow),
      })),
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
