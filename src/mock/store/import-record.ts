import type { ImportRowImage } from "../../contract/import-row.ts";
import type { Import, ImportRowResult } from "../../contract/resources/import.ts";
import type { ImportMode, OnImageError, sexes } from "../../contract/value-sets.ts";

/** A row as it was accepted: judged by `importRowProblems`, its reference trimmed. */
export interface AcceptedRow {
  reference: string;
  name: string;
  description?: string | undefined;
  sex?: (typeof sexes)[number] | undefined;
  images: ImportRowImage[];
}

/** One submitted row and what became of it. */
export interface ImportJobRow {
  /** Null once the row is settled. */
  row: AcceptedRow | null;
  result: ImportRowResult;
}

/** An import as it is kept. Where it stands follows from these numbers and the clock, so a snapshot can go on with it. */
export interface ImportJob
  extends Pick<Import, "id" | "status" | "created_at" | "started_at" | "finished_at"> {
  readonly mode: ImportMode;
  readonly on_image_error: OnImageError;
  /** When every row has been checked, in milliseconds since the epoch. */
  readonly validated_at: number;
  /** How long one row takes, in milliseconds. */
  readonly row_ms: number;
  /** In input order. */
  readonly rows: ImportJobRow[];
  /** How many rows are settled, from the first on. */
  done: number;
  succeeded: number;
  partial: number;
  failed: number;
}

/** Whether its status is one that nothing moves any more (States, Import job). */
export const isTerminal = (job: Pick<ImportJob, "status">): boolean =>
  job.status !== "validating" && job.status !== "processing";

/** How a row reads before its turn has come. */
export const pendingResult = (line: number, reference: string): ImportRowResult => ({
  line,
  reference,
  status: "pending",
  action: null,
  product_id: null,
  images: [],
  error: null,
});
