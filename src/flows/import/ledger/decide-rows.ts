import type { OnImageError } from "../../../contract/value-sets.ts";
import type { LedgerEntry } from "../../../state/ledger.ts";
import type { InputRow, RowReader } from "../../rows/input-row.ts";
import { UnreadableInput } from "../../rows/problem.ts";
import { InputError, type Source } from "../../rows/source.ts";
import type { FileRow } from "../columns/file-row.ts";
import type { RefusedPhoto } from "./call-memo.ts";
import { type Decision, decide, type KnownPhotos, referenceOfRow, type Weighed, weigh } from "./decide.ts";

/** A row of the file that is this run's to bring in, and what is to be done with it. */
export interface DecidedRow {
  /** Its place among all rows of the file, from 0. */
  row: number;
  /** The file's line of it. */
  line: number;
  /** Trimmed, as the service compares it. */
  reference: string;
  weighed: Weighed;
  decision: Decision;
}

export interface DecideDeps extends KnownPhotos {
  source: Source;
  /** A reader over the file from its start. */
  reader: RowReader;
  /** Rows that are not looked at: those that the check refused, and those of calls that were made before. */
  isLeftOut: (row: number) => boolean;
  /** What the ledger keeps under a reference; null where it keeps nothing or is not asked. */
  entryOf: (reference: string) => LedgerEntry | null;
  onImageError: OnImageError;
  /** The photos of a row that the service could not have, by its place; none unless given. */
  failedPhotosOf?: (row: number) => readonly RefusedPhoto[];
}

/** Walks the file once more and decides about each row, in the order of the file. Throws an InputError when the file was changed. */
export async function* decideRows(deps: DecideDeps): AsyncGenerator<DecidedRow> {
  const { isLeftOut, entryOf, onImageError, failedPhotosOf = () => [] } = deps;
  let ordinal = 0;
  for await (const rows of sameAsChecked(deps)) {
    for (const { line, row: read } of rows) {
      const row = ordinal++;
      if (isLeftOut(row)) continue;
      const weighed = lessPhotos(await weigh(read as FileRow, deps), failedPhotosOf(row));
      const reference = referenceOfRow(weighed.row);
      yield { row, line, reference, weighed, decision: decide(weighed, entryOf(reference), onImageError) };
    }
  }
}

function lessPhotos(weighed: Weighed, failed: readonly RefusedPhoto[]): Weighed {
  const isFailed = ({ image }: RefusedPhoto) => failed.some((one) => one.image === image);
  return { ...weighed, refused: [...weighed.refused.filter((one) => !isFailed(one)), ...failed] };
}

/** The rows again; what could be read when it was checked and cannot be now was changed. */
async function* sameAsChecked({ source, reader }: DecideDeps): AsyncGenerator<InputRow[]> {
  try {
    yield* reader.batches();
  } catch (error) {
    throw error instanceof UnreadableInput || error instanceof InputError ? source.changed(error) : error;
  }
}
