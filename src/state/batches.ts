import { createHash } from "node:crypto";
import type { ChangesWithin, ChangeToSend, ReportedChange } from "./changes.ts";
import type { DoneRow, DoneRowsWithin } from "./done-rows.ts";
import type { LedgerEntry, LedgerWithin } from "./ledger.ts";
import type { ClaimedLook, LooksWithin } from "./looks.ts";
import { type RunRow, runColumns, runWidth, type StoredRun, toRun } from "./runs.ts";
import { type Database, fromKey, placesFromBytes, placesToBytes, toKey } from "./sqlite.ts";
import { stateError } from "./state-error.ts";

/** The known data of a batch, whatever its outcome. */
export interface BatchRows {
  /** From 0, in the order in which the run's batches were recorded. */
  readonly index: number;
  /** The index of each row among all rows of the file, from 0, ascending. */
  readonly rows: Uint32Array;
  /** The file's line of each row, parallel to `rows`. */
  readonly lines: Uint32Array;
  /** The size of the body, in bytes. */
  readonly bytes: number;
}

/** A batch: one request of a run. Rejected ones are not kept: their rows are batched again. */
export interface StoredBatch extends BatchRows {
  readonly run: string;
  readonly idempotencyKey: string;
  /** `sent`: outcome unknown. `accepted`: its jobs are known. `settled`: its results have been read. */
  readonly state: "sent" | "accepted" | "settled";
  /** IDs of what the service created: an import, an export, or a task per row in order; none if `sent`. */
  readonly jobs: readonly string[];
  /** When it was first sent, in Unix milliseconds of the local clock. */
  readonly sentAt: number;
  /** The same by the service's clock; null if that was not known yet. */
  readonly sentAtService: number | null;
  /** Whether the service has had its key with another body (Cross-cutting rule 3). */
  readonly isKeyTaken: boolean;
}

export interface NewBatch extends Omit<StoredBatch, "state" | "jobs" | "bytes" | "isKeyTaken"> {
  readonly body: Uint8Array;
  /** The caller's data about the rows, needed with the results; opaque here, kept until the run ends. */
  readonly memo: Uint8Array;
  /** The reference of each row (canonical), kept until the batch is settled. */
  readonly references: readonly string[];
  /** Its changes to known products; empty if it changes none. */
  readonly changes?: readonly ChangeToSend[] | undefined;
  /** The images that it requests, one for each row; missing where it requests none. */
  readonly looks?: readonly ClaimedLook[] | undefined;
  /** Whether no other run of the kind may have its references, nor a look, in an open batch. */
  readonly exclusive: boolean;
}

export type BatchJobs = Pick<StoredBatch, "run" | "index" | "jobs">;

/** Every change is one transaction, on disk when the function returns. */
export interface Batches {
  /** The batches of a run in order, without their bodies. */
  of(runId: string): StoredBatch[];
  /** Records a batch before it is sent: null. If exclusive, returns what another run claims: not recorded. */
  begin(account: number, batch: NewBatch): string | null;
  /** The batch is sent under another key from now on. */
  renewed(
    runId: string,
    index: number,
    attempt: Pick<StoredBatch, "idempotencyKey" | "sentAt" | "sentAtService">,
  ): void;
  /** The service has had the key of the batch with another body. */
  keyTaken(runId: string, index: number): void;
  /** The recorded bytes of an unknown batch. Throws a StateError if they differ. */
  body(runId: string, index: number): Uint8Array;
  /** The data recorded with the batch, kept until its run ends. */
  memo(runId: string, index: number): Uint8Array;
  /** The service accepted the batch; its bytes are deleted. */
  accepted(runId: string, index: number, jobs: readonly string[]): void;
  /** The service certainly did nothing with the batch: deletes it, its rows may be sent again. */
  dropped(runId: string, index: number): void;
  /**
   * Ends a batch with an unknown outcome by the user's decision: writes the assumed state of its products
   * into the ledger, and records in `done` the rows that need nothing more from the run. Deletes the batch;
   * its other rows may be sent again.
   */
  decided(runId: string, index: number, entries: readonly LedgerEntry[], done: readonly DoneRow[]): void;
  /** Writes the results of a batch into the ledger and releases its references. */
  settled(runId: string, index: number, entries: readonly LedgerEntry[], changes?: ReportedChange[]): void;
  /** Unsettled batches of other runs of that kind, with their runs, oldest first. */
  unsettledElsewhere(of: {
    account: number;
    kind: string;
    runId: string;
  }): { run: StoredRun; batch: StoredBatch }[];
  /** The last jobs of the account, newest batch first, with the kind of their run. */
  lastJobs(account: number, most: number): { kind: string; id: string }[];
  /** Every batch with jobs of runs of that kind, of any account, ended ones included. */
  withJobs(kind: string): BatchJobs[];
  /** Whether any run of the account, of any kind, has an unsettled batch. */
  anyUnsettled(account: number): boolean;
  /** The references of an unsettled batch, in the order of its rows. */
  references(runId: string, index: number): string[];
}

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
  isKeyTaken: number,
];
type Found = [number: number, account: number, runEndedAt: number | null];
const batchColumns =
  "batch.run, batch.place, batch.key, batch.state, batch.jobs, batch.bytes, batch.sent_at, batch.sent_at_service, batch.rows, batch.lines, batch.is_key_taken";

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
  isKeyTaken,
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
  isKeyTaken: isKeyTaken === 1,
});

/** References as one text: the bytes of each in hex, after a space. */
const toRefs = (references: readonly string[]): string =>
  references.map((reference) => ` ${toKey(reference).toString("hex")}`).join("");
const fromRefs = (refs: string): string[] =>
  refs
    .split(" ")
    .slice(1)
    .map((hex) => fromKey(Buffer.from(hex, "hex")));

/** The batches of a state, whose results go into its ledger in the same transaction. */
export function storedBatches(
  db: Database,
  path: string | null,
  {
    ledger,
    changes,
    doneRows,
    looks,
  }: { ledger: LedgerWithin; changes: ChangesWithin; doneRows: DoneRowsWithin; looks: LooksWithin },
): Batches {
  const of = db.statement<BatchRow>(`SELECT ${batchColumns} FROM batch WHERE run = ? ORDER BY place`);
  const add = db.statement<[number]>(
    `INSERT INTO batch (run, place, account, key, state, bytes, digest, sent_at, sent_at_service, rows, lines, refs)
     VALUES (?, ?, ?, ?, 'sent', ?, ?, ?, ?, ?, ?, ?) RETURNING number`,
  );
  const addBody = db.statement("INSERT INTO body (batch, bytes) VALUES (?, ?)");
  const addMemo = db.statement("INSERT INTO memo (batch, bytes) VALUES (?, ?)");
  const referencesElsewhere = db.statement<[refs: string]>(
    `SELECT batch.refs FROM batch JOIN run ON run.id = batch.run JOIN run AS own ON own.id = ?2 AND own.kind = run.kind
     WHERE batch.account = ?1 AND batch.run <> ?2 AND batch.state <> 'settled'`,
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
  const markSettled = db.statement("UPDATE batch SET state = 'settled', refs = '' WHERE number = ?");
  const renew = db.statement(
    "UPDATE batch SET key = ?, sent_at = ?, sent_at_service = ?, is_key_taken = 0 WHERE number = ?",
  );
  const takeKey = db.statement("UPDATE batch SET is_key_taken = 1 WHERE number = ?");
  const remove = db.statement("DELETE FROM batch WHERE number = ?");
  const removeBody = db.statement("DELETE FROM body WHERE batch = ?");
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
  const references = db.statement<[refs: string]>("SELECT refs FROM batch WHERE run = ? AND place = ?");
  const change = (runId: string, index: number, work: (...batch: Found) => void): void =>
    db.transaction(() => {
      const row = find.get(runId, index);
      if (row === undefined) throw new Error(`run ${runId} has no batch ${index}`);
      work(...row);
    });
  const forget = (number: number): void => {
    removeBody.run(number);
    remove.run(number);
  };
  const heldElsewhere = (account: number, { run, references, looks: claimed = [] }: NewBatch) => {
    if (references.length === 0) return looks.findClaimed(account, run, claimed);
    const held = new Set(referencesElsewhere.all(account, run).flatMap(([refs]) => fromRefs(refs)));
    return references.find((reference) => held.has(reference)) ?? null;
  };
  return {
    of: (runId) => of.all(runId).map(toBatch),
    begin(account, batch) {
      const digest = createHash("sha256").update(batch.body).digest();
      return db.transaction(() => {
        const held = batch.exclusive ? heldElsewhere(account, batch) : null;
        if (held !== null) return held;
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
          toRefs(batch.references),
        )!;
        addBody.run(number, batch.body);
        addMemo.run(number, batch.memo);
        changes.send(account, batch.run, number, batch.changes ?? []);
        looks.add(account, number, batch.looks ?? []);
        return null;
      });
    },
    renewed: (runId, index, { idempotencyKey, sentAt, sentAtService }) =>
      change(runId, index, (number) => void renew.run(idempotencyKey, sentAt, sentAtService, number)),
    keyTaken: (runId, index) => change(runId, index, (number) => void takeKey.run(number)),
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
        looks.accept(number, jobs);
        removeBody.run(number);
      }),
    dropped: (runId, index) =>
      change(runId, index, (number) => {
        changes.drop(runId, number);
        forget(number);
      }),
    decided: (runId, index, entries, done) =>
      change(runId, index, (number, account) => {
        ledger.put(account, entries);
        for (const row of done) doneRows.add(runId, row);
        changes.letGo(runId, number);
        forget(number);
      }),
    settled: (runId, index, entries, reported = []) =>
      change(runId, index, (number, account, runEndedAt) => {
        ledger.put(account, entries);
        changes.report(account, runId, number, reported);
        removeBody.run(number);
        // A replaced run whose last unknown outcome was decided in another run needs no report any more.
        if (runEndedAt === null) markSettled.run(number);
        else remove.run(number);
      }),
    unsettledElsewhere: ({ account, kind, runId }) =>
      unsettledElsewhere.all(account, kind, runId).map((row): { run: StoredRun; batch: StoredBatch } => ({
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
    references: (runId, index) => fromRefs(references.get(runId, index)?.[0] ?? ""),
  };
}
