import type { Column, ListFormat } from "./columns.ts";

/** How resources are printed, one or many. */
export interface Printing<Row> {
  readonly columns: readonly Column<Row>[];
  /** Default: NDJSON with `--json`, else a table. */
  readonly format?: ListFormat | undefined;
  /** The chosen fields of a resource, for JSON; null for all of them, unchanged. */
  readonly select?: ((resource: unknown) => object) | null;
  /** Whether cells of a CSV that a spreadsheet would run are guarded (default: true). */
  readonly formulaGuard?: boolean;
}
