import type { CsvStyle } from "../../flows/outputs/cells.ts";
import { shortText, shortValue, visible } from "../../text.ts";
import { columnsFor, inTableOrder, type ListFormat, type Printing, table, toCell } from "./table.ts";
import { visibleInCell, visibleInJson } from "./visible.ts";

export interface ListTarget {
  write(text: string): Promise<void>;
  writeBytes(bytes: Uint8Array): Promise<void>;
  /** The width of the terminal, which a table must fit; null without a terminal. */
  width: number | null;
  heading(text: string): string;
  /** As `Io.visible`. */
  visible(text: string): string;
  /** How CSV is written for Excel; null for plain CSV. */
  excelStyle(given: boolean | undefined): Promise<CsvStyle | null>;
  onDropped(names: readonly string[]): Promise<void>;
}

/** Rows as they arrive. */
export type Pages<Row> = AsyncIterable<Iterable<Row>>;

/** The approximate number of characters per write. */
const chunk = 65_536;

/** Prints rows and resolves to their number. All formats but the table print rows as they arrive. */
export async function printList<Row>(
  printing: Printing<Row>,
  pages: Pages<Row>,
  format: ListFormat,
  target: ListTarget,
): Promise<number> {
  return printers[format](printing, pages, target);
}

type Printer = <Row>(printing: Printing<Row>, pages: Pages<Row>, target: ListTarget) => Promise<number>;

const printers: Readonly<Record<ListFormat, Printer>> = {
  /** Prints nothing for an empty list, not even the heading. */
  async table<Row>({ columns, select, beforeTable }: Printing<Row>, pages: Pages<Row>, target: ListTarget) {
    // Chosen fields stay in the order in which the user named them.
    const ordered = select ? columns : inTableOrder(columns);
    const all: Row[] = [];
    try {
      for await (const rows of pages) for (const row of rows) all.push(row);
      if (!select && all.length > 0) await beforeTable?.(all);
    } finally {
      // Rows that arrived before a failure are still printed: only this table shows the IDs of uploads.
      if (all.length > 0) await printTable(ordered, all, target);
    }
    return all.length;
  },

  ndjson: (printing, pages, target) => {
    const shown = shownIn(printing);
    // Many lines are made visible in less time than one by one.
    const write = (lines: string) => target.write(visibleInJson(lines));
    return stream(pages, { write }, (row) => `${JSON.stringify(shown(row)) ?? null}\n`);
  },

  async json(printing, pages, target) {
    const shown = shownIn(printing);
    const count = await stream(
      pages,
      target,
      (row, index) => `${index === 0 ? "[\n" : ",\n"}${indented(shown(row), "  ")}`,
    );
    await target.write(count === 0 ? "[]\n" : "\n]\n");
    return count;
  },

  async csv({ columns, formulaGuard = true, excel }, pages, target) {
    const { csvRecords, byteOrderMark, plainCsv } = await import("../../flows/outputs/cells.ts");
    const { guardedCell } = await import("../../flows/outputs/formulas.ts");
    const shown = columnsFor(columns, "csv");
    const cell = formulaGuard ? (text: string) => guardedCell(visibleInCell(text)) : visibleInCell;
    const csv = (await target.excelStyle(excel)) ?? plainCsv;
    const line = (cells: string[]) => csvRecords([cells], csv, cell);
    await target.write(byteOrderMark(csv) + line(shown.map((column) => column.name)));
    return stream(pages, target, (row) => line(shown.map((column) => toCell(column, row))));
  },

  /** The cells of CSV. Nothing but complete workbooks can be opened, so a failure leaves none. */
  async xlsx({ columns, formulaGuard = true }, pages, target) {
    const { writeWorkbook } = await import("../../flows/workbook/write-workbook.ts");
    const { guardedCell } = await import("../../flows/outputs/formulas.ts");
    const shown = columnsFor(columns, "csv");
    const cell = (text: string) => (formulaGuard ? guardedCell(visibleInCell(text)) : visibleInCell(text));
    let count = 0;
    async function* texts() {
      for await (const rows of pages)
        for (const row of rows) {
          count++;
          yield { texts: shown.map((column) => cell(toCell(column, row))) };
        }
    }
    const header = shown.map((column) => column.name);
    for await (const bytes of writeWorkbook({ name: "Rows", header, rows: texts() }))
      await target.writeBytes(bytes as Buffer);
    return count;
  },
};

async function printTable<Row>(
  columns: Printing<Row>["columns"],
  rows: readonly Row[],
  target: ListTarget,
): Promise<void> {
  const { text, dropped } = table(columns, rows, target);
  await target.write(text);
  if (dropped.length > 0) await target.onDropped(dropped);
}

const shownIn = ({ select }: Printing<never>): ((resource: unknown) => unknown) =>
  select ?? ((resource) => resource);

/** A JSON value on several lines, for `--format json` and for people. */
export const indented = (value: unknown, margin = ""): string =>
  visibleInJson(JSON.stringify(value, null, 2)).replace(/^/gm, margin);

async function stream<Row>(
  pages: Pages<Row>,
  target: Pick<ListTarget, "write">,
  text: (row: Row, index: number) => string,
): Promise<number> {
  let count = 0;
  let waiting = "";
  try {
    for await (const rows of pages) {
      for (const row of rows) {
        waiting += text(row, count++);
        if (waiting.length < chunk) continue;
        const full = waiting;
        waiting = "";
        await target.write(full);
      }
    }
  } finally {
    // Rows that arrived before a failure are still printed.
    if (waiting !== "") await target.write(waiting);
  }
  return count;
}

/** A resource for people: one line per field, entry and nested field, after a column of names. */
export function resourceLines(resource: object, heading: (text: string) => string): string {
  const fields = Object.entries(resource);
  const width = Math.max(0, ...fields.map(([name]) => visible(name).length));
  return fields
    .flatMap(([name, value]) =>
      valueLines(value).map((line, index) => {
        const label = (index === 0 ? visible(name) : "").padEnd(width);
        return `${`${heading(label)}  ${line}`.trimEnd()}\n`;
      }),
    )
    .join("");
}

function valueLines(value: unknown): string[] {
  if (value === null || value === undefined) return ["-"];
  if (Array.isArray(value)) return value.length === 0 ? ["-"] : value.map(inline);
  if (typeof value !== "object") return [inline(value)];
  const fields = Object.entries(value);
  return fields.length === 0
    ? ["-"]
    : fields.map(([name, entry]) => `${visible(name)} ${inline(entry ?? "-")}`);
}

/** A value on one line. An object is shown without field names, which all entries share. */
function inline(value: unknown): string {
  if (typeof value === "string") return shortValue(visible(value));
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return shortText(visible(JSON.stringify(value)));
  return Object.values(value).map(inline).join("  ");
}
