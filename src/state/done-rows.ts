import { parseJson } from "../json.ts";
import type { ChangesWithin, ChangeToSend } from "./changes.ts";
import type { LedgerWithin, SeenProduct } from "./ledger.ts";
import { type Database, fromKey, toKey } from "./sqlite.ts";

/** A row that was done without a batch that has results for it: by a PATCH, or by the user's decision. */
export interface DoneRow {
  /** Its index among all rows of the file, from 0, and the file's line. */
  readonly rowIndex: number;
  readonly line: number;
  readonly reference: string;
  readonly productId: string;
  /** The counts of the flow, opaque here; none of a row that was changed by an earlier version. */
  readonly counts?: Readonly<Record<string, number>> | undefined;
}

/** Rows without a batch. Every change is one transaction, on disk when the function returns. */
export interface DoneRows {
  of(runId: string): DoneRow[];
  /** Records a PATCH before it is sent, so that a row found up to date later is counted as changed by it. */
  patching(account: number, runId: string, row: DoneRow, changes: readonly ChangeToSend[]): void;
  /** The indexes of a run's rows whose PATCH was sent without a recorded outcome. */
  patchingRows(runId: string): number[];
  /** Records a row changed by a PATCH and what the ledger knows now. */
  patched(account: number, runId: string, row: DoneRow, seen: SeenProduct): void;
}

/** Done rows within a transaction on a batch. */
export interface DoneRowsWithin {
  add(runId: string, row: DoneRow): void;
}

/** The done rows of a state, whose products go into its ledger in the same transaction. */
export function storedDoneRows(
  db: Database,
  { ledger, changes }: { ledger: LedgerWithin; changes: ChangesWithin },
): DoneRows & DoneRowsWithin {
  const put = db.statement(
    "INSERT OR REPLACE INTO patch (run, row, line, reference, product, is_done, memo) VALUES (?, ?, ?, ?, ?, ?, ?)",
  );
  const of = db.statement<[row: number, line: number, reference: Buffer, product: Buffer, memo: Buffer]>(
    "SELECT row, line, reference, product, memo FROM patch WHERE run = ? AND is_done = 1 ORDER BY line, row",
  );
  const patching = db.statement<[row: number]>("SELECT row FROM patch WHERE run = ? AND is_done = 0");
  const putRow = (runId: string, row: DoneRow, isDone: boolean): void => {
    const memo = Buffer.from(row.counts === undefined ? "" : JSON.stringify(row.counts));
    const keys = [toKey(row.reference), toKey(row.productId)] as const;
    put.run(runId, row.rowIndex, row.line, ...keys, Number(isDone), memo);
  };
  return {
    of: (runId) =>
      of.all(runId).map(([rowIndex, line, reference, product, memo]) => ({
        rowIndex,
        line,
        reference: fromKey(reference),
        productId: fromKey(product),
        counts: memo.length === 0 ? undefined : (parseJson(memo.toString()) as DoneRow["counts"]),
      })),
    patching: (account, runId, row, toSend) =>
      db.transaction(() => {
        putRow(runId, row, false);
        changes.send(account, runId, null, toSend);
      }),
    patchingRows: (runId) => patching.all(runId).map(([row]) => row),
    patched: (account, runId, row, seen) =>
      db.transaction(() => {
        putRow(runId, row, true);
        ledger.see(account, seen);
      }),
    add: (runId, row) => putRow(runId, row, true),
  };
}
