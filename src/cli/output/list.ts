import { type Column, cellOf, columnsFor, type ListFormat } from "./columns.ts";
import { jsonLine } from "./json.ts";
import { visibleInCell, visibleInJson } from "./visible.ts";

/** Where a list goes and how it looks there. */
export interface ListTarget {
  write(text: string): Promise<void>;
  /** The width of the terminal that a table must fit; null when it is not a terminal. */
  width: number | null;
  heading(text: string): string;
  /** As `Io.visible`. */
  visible(text: string): string;
  /** Told which columns a table had no room for. */
  onDropped(names: readonly string[]): Promise<void>;
}

type Rows<Row> = Iterable<Row> | AsyncIterable<Row>;

/** About how many characters go out in one write. */
const chunk = 65_536;

/** Prints rows in a format and tells how many there were. All but a table go out as they come in. */
export async function printList<Row>(
  columns: readonly Column<Row>[],
  rows: Rows<Row>,
  format: ListFormat,
  target: ListTarget,
): Promise<number> {
  return printers[format](columns, rows, target);
}

type Printer = <Row>(columns: readonly Column<Row>[], rows: Rows<Row>, target: ListTarget) => Promise<number>;

const printers: Readonly<Record<ListFormat, Printer>> = {
  /** Nothing but the heading would be data of no use, so an empty table is empty. */
  async table(columns, rows, target) {
    const all = [];
    for await (const row of rows) all.push(row);
    if (all.length === 0) return 0;
    const { table } = await import("./table.ts");
    const { text, dropped } = table(columns, all, target);
    await target.write(text);
    if (dropped.length > 0) await target.onDropped(dropped);
    return all.length;
  },

  ndjson: (_columns, rows, target) => stream(rows, target, (row) => jsonLine(row)),

  async json(_columns, rows, target) {
    const count = await stream(
      rows,
      target,
      (row, index) => `${index === 0 ? "[\n" : ",\n"}${indented(row, "  ")}`,
    );
    await target.write(count === 0 ? "[]\n" : "\n]\n");
    return count;
  },

  async csv(columns, rows, target) {
    const { stringify } = await import("csv-stringify/sync");
    const shown = columnsFor(columns, "csv");
    await target.write(stringify([shown.map((column) => column.name)]));
    return stream(rows, target, (row) =>
      stringify([shown.map((column) => visibleInCell(cellOf(column, row)))]),
    );
  },
};

/** A JSON value over several lines, as `--format json` and people on a terminal read it. */
export const indented = (value: unknown, margin = ""): string =>
  JSON.stringify(value, null, 2)
    .split("\n")
    .map((line) => margin + visibleInJson(line))
    .join("\n");

async function stream<Row>(
  rows: Rows<Row>,
  target: ListTarget,
  text: (row: Row, index: number) => string,
): Promise<number> {
  let count = 0;
  let waiting = "";
  try {
    for await (const row of rows) {
      waiting += text(row, count++);
      if (waiting.length < chunk) continue;
      const full = waiting;
      waiting = "";
      await target.write(full);
    }
  } finally {
    // What came before a failure is still data.
    if (waiting !== "") await target.write(waiting);
  }
  return count;
}
