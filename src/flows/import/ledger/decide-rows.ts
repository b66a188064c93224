import type { OnImageError } from "../../../contract/value-sets.ts";
import type { LedgerEntry } from "../../../state/ledger.ts";
import type { RowReader } from "../../rows/input-row.ts";
import type { Source } from "../../rows/source.ts";
import { unchangedRows } from "../../rows/unchanged-rows.ts";
import type { FileRow } from "../columns/file-row.ts";
import type { RejectedPhoto } from "./batch-memo.ts";
import { type Decision, decide, type KnownPhotos, referenceOfRow, type Weighed, weigh } from "./decide.ts";

/** A row to import, and the decision about it. */
export interface DecidedRow {
  /** Its place among all rows of the file, from 0. */
  row: number;
  /** Its line in the file. */
  line: number;
  /** Trimmed, in the form the service compares. */
  reference: string;
  weighed: Weighed;
  decision: Decision;
}

export interface DecideDeps extends KnownPhotos {
  source: Source;
  /** Reads the file from its start. */
  reader: RowReader;
  /** Rows to skip: rejected by the check, or in an earlier batch. */
  isSkipped: (row: number) => boolean;
  /** The ledger entry of a reference; null if there is none or the ledger is not used. */
  entryOf: (reference: string) => LedgerEntry | null;
  onImageError: OnImageError;
  /** Photos of a row that failed at the service, by its place; none by default. */
  failedPhotosOf?: (row: number) => readonly RejectedPhoto[];
}

/**
 * Reads the file again and decides about each row, in file order. Throws an InputError if the file changed.
 */
export async function* decideRows(deps: DecideDeps): AsyncGenerator<DecidedRow> {
  const { source, reader, isSkipped, entryOf, onImageError, failedPhotosOf = () => [] } = deps;
  let ordinal = 0;
  for await (const rows of unchangedRows(source, reader)) {
    for (const { line, row: read } of rows) {
      const row = ordinal++;
      if (isSkipped(row)) continue;
      const weighed = lessPhotos(await weigh(read as FileRow, deps), failedPhotosOf(row));
      const reference = referenceOfRow(weighed.row);
      yield { row, line, reference, weighed, decision: decide(weighed, entryOf(reference), onImageError) };
    }
  }
}

function lessPhotos(weighed: Weighed, failed: readonly RejectedPhoto[]): Weighed {
  const isFailed = ({ image }: RejectedPhoto) => failed.some((one) => one.image === image);
  return { ...weighed, refused: [...weighed.refused.filter((one) => !isFailed(one)), ...failed] };
}
