/** A column of a table or a CSV file. */
export interface Column<Row> {
  /** The field name of the service. */
  readonly name: string;
  /** The content of the cell; null and undefined leave it empty. */
  value(row: Row): string | number | boolean | null | undefined;
  /**
   * For values that users copy from a table: references are cut after all other columns, IDs never (`cutOf`).
   */
  readonly cut?: "last" | "never";
  /**
   * A table that is too wide drops these columns before it cuts others. If it is too wide even when cut, it drops the
   * others from the right.
   */
  readonly drop?: "first";
  /** The width below which the column is dropped rather than cut (default: 12). */
  readonly least?: number;
  /** Set for a column that only one of the two formats shows. */
  readonly only?: "table" | "csv";
}

/** For `least`: a value that is useless when cut, such as a timestamp or a status. */
export const whole = Number.POSITIVE_INFINITY;

/** The formats of a list. */
export const listFormats = ["table", "json", "ndjson", "csv"] as const;
export type ListFormat = (typeof listFormats)[number];

/** The text of a cell; empty without a value. A response may have an object where the contract has a text. */
export function cellOf<Row>(column: Column<Row>, row: Row): string {
  const value: unknown = column.value(row) ?? "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/**
 * The `cut` of a column in a table; `never` for columns of IDs, by their name, because half an ID is useless.
 */
export const cutOf = ({ name, cut }: Pick<Column<never>, "name" | "cut">): "last" | "never" | undefined =>
  /(?:^|[_.])ids?$/.test(name) ? "never" : cut;

/** The columns of a format. */
export const columnsFor = <Row>(columns: readonly Column<Row>[], format: "table" | "csv"): Column<Row>[] =>
  columns.filter((column) => column.only === undefined || column.only === format);

/** How resources are printed, one or many. */
export interface Printing<Row> {
  readonly columns: readonly Column<Row>[];
  /** Default: NDJSON with `--json`, else a table. */
  readonly format?: ListFormat | undefined;
  /** The chosen fields of a resource, for JSON; null for all of them, unchanged. */
  readonly select?: ((resource: unknown) => object) | null;
  /** Whether cells of a CSV that a spreadsheet would run are guarded (default: true). */
  readonly formulaGuard?: boolean;
  /** Whether CSV is written for Excel (default: as the profile says). */
  readonly excel?: boolean | undefined;
}
