/** A column of a list, as a table or a CSV file shows it. */
export interface Column<Row> {
  /** The service's own name of the field. */
  readonly name: string;
  /** What stands in the cell; null and undefined leave it empty. */
  value(row: Row): string | number | boolean | null | undefined;
  /** For what is copied from a table: a reference is cut when there is nothing else left to cut, an ID not even then (`cutOf`). */
  readonly cut?: "last" | "never";
  /** For a table that is too wide however much is cut: these columns go before the others, which go from the right. */
  readonly drop?: "first";
  /** For a column that only one of the two shows. */
  readonly only?: "table" | "csv";
}

/** The formats of a list (interface, Commands). */
export const listFormats = ["table", "json", "ndjson", "csv"] as const;
export type ListFormat = (typeof listFormats)[number];

/** A cell's text; empty where there is no value. A response may have an object where the contract has a text. */
export function cellOf<Row>(column: Column<Row>, row: Row): string {
  const value: unknown = column.value(row) ?? "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** How a column is cut in a table; one that is named like IDs holds them, and half an ID is of no use. */
export const cutOf = ({ name, cut }: Pick<Column<never>, "name" | "cut">): "last" | "never" | undefined =>
  /(?:^|_)ids?$/.test(name) ? "never" : cut;

/** The columns that a format shows. */
export const columnsFor = <Row>(columns: readonly Column<Row>[], format: "table" | "csv"): Column<Row>[] =>
  columns.filter((column) => column.only === undefined || column.only === format);
