import type { ImportRowImage } from "../../contract/import-row.ts";
import type { Import, ImportRowResult } from "../../contract/resources/import.ts";
import type { ImportMode, OnImageError, sexes } from "../../contract/value-sets.ts";

/** An accepted row: validated by `importRowProblems`, with a trimmed reference. */
export interface AcceptedRow {
  reference: string;
  name: string;
  description?: string | undefined;
  sex?: (typeof sexes)[number] | undefined;
  images: ImportRowImage[];
}

/** One submitted row and its result. */
export interface ImportJobRow {
  /** Null once the row is done. */
  row: AcceptedRow | null;
  result: ImportRowResult;
}

/**
 * A stored import. Its progress follows from these numbers and the clock, so it continues after a restore.
 */
export interface ImportJob
  extends Pick<Import, "id" | "status" | "created_at" | "started_at" | "finished_at"> {
  readonly mode: ImportMode;
  readonly on_image_error: OnImageError;
  /** End of the validation in milliseconds since the epoch. */
  readonly validated_at: number;
  /** Duration of one row in milliseconds. */
  readonly row_ms: number;
  /** In input order. */
  readonly rows: ImportJobRow[];
  /** Number of rows done, from the first on. */
  done: number;
  succeeded: number;
  partial: number;
  failed: number;
}

/** Whether the status is final (States, Import job). */
export const isTerminal = (job: Pick<ImportJob, "status">): boolean =>
  job.status !== "validating" && job.status !== "processing";

/** The result of a pending row. */
export const pendingResult = (line: number, reference: string): ImportRowResult => ({
  line,
  reference,
  status: "pending",
  action: null,
  product_id: null,
  images: [],
  error: null,
});
