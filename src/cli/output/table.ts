import stringWidth from "string-width";
import { shortValue } from "../../text.ts";
import { cut } from "./wrapped.ts";

export interface TableLayout {
  /** The maximum width, as on a terminal; null for no limit. */
  width: number | null;
  heading(text: string): string;
  /** As `Io.visible`. */
  visible(text: string): string;
}

/** A table, and the names of the columns that did not fit. */
export interface DrawnTable {
  text: string;
  dropped: string[];
}

const gap = 2;
/** Columns are dropped rather than cut below this width, unless they have their own `least`. */
const useful = 12;
/** Other columns are dropped rather than references, which users copy, cut below this width. */
const usefulReference = 16;
/** References that are left alone with IDs are not cut below this width; then they wrap, as IDs do. */
const narrowest = 6;

/** Rows as a table without borders, one line per row, line ends included. */
export function table<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  layout: TableLayout,
): DrawnTable {
  const shown = columnsFor(columns, "table");
  const head = shown.map((column) => column.name);
  const cells = rows.map((row) => shown.map((column) => shortValue(layout.visible(toCell(column, row)))));
  const widths = head.map((name, index) =>
    cells.reduce((widest, line) => Math.max(widest, textWidth(line[index]!)), textWidth(name)),
  );
  const width = layout.width ?? Number.POSITIVE_INFINITY;
  const kept = keptColumns(shown, widths, width);
  const pick = <Value>(values: readonly Value[]): Value[] => kept.map((index) => values[index]!);
  const fitted = fittedWidths(pick(shown), pick(widths), width);
  const draw = (line: readonly string[]) =>
    pick(line)
      .map((cell, index) => padded(cell, fitted[index]!))
      .join(" ".repeat(gap))
      .trimEnd();
  return {
    text: `${[layout.heading(draw(head)), ...cells.map(draw)].join("\n")}\n`,
    dropped: head.filter((_, index) => !kept.includes(index)),
  };
}

type Cuttable = Pick<Column<never>, "name" | "cut" | "drop" | "least">;

/** The columns to keep: references and names, and IDs except in a table that has names too. */
function keptColumns(columns: readonly Cuttable[], widths: readonly number[], width: number): number[] {
  const cuts = columns.map(toCut);
  const isNamed = columns.some(({ name }) => name === "name") && cuts.includes("never");
  const least = widths.map((width, index) =>
    isNamed && cuts[index] === "last" ? width : leastWidth(columns[index]!, width),
  );
  const fits = (needed: readonly number[]) => totalWidth(kept.map((index) => needed[index]!)) <= width;
  let kept = columns.map((_, index) => index);
  const drop = (isDropped: (index: number) => boolean): boolean => {
    const dropped = kept.findLast(isDropped);
    kept = kept.filter((index) => index !== dropped);
    return dropped !== undefined;
  };
  while (!fits(widths) && drop((index) => columns[index]!.drop === "first"));
  // The others stay where the ID would not even fit next to the names.
  const required = kept.filter((index) => cuts[index] !== undefined);
  if (isNamed && totalWidth(required.map((index) => least[index]!)) > width)
    while (drop((index) => cuts[index] === "never"));
  const isLast = (index: number) => columns[index]!.drop === "last";
  const dropNext = () =>
    drop((index) => cuts[index] === undefined && !isLast(index)) ||
    (kept.some(isLast) && drop((index) => cuts[index] === "never")) ||
    drop(isLast);
  while (!fits(least) && dropNext());
  return kept;
}

function leastWidth(column: Cuttable, width: number): number {
  const cut = toCut(column);
  if (cut === "never") return width;
  return Math.min(width, column.least ?? (cut === "last" ? usefulReference : useful));
}

/** Narrows the widest column until the table fits; those with `cut` last. */
function fittedWidths(columns: readonly Cuttable[], widths: readonly number[], width: number): number[] {
  const fitted = [...widths];
  const least = widths.map((width, index) =>
    toCut(columns[index]!) === "last" ? narrowest : leastWidth(columns[index]!, width),
  );
  const widest = (cut: "last" | undefined) =>
    columns
      .map((_, index) => index)
      .filter((index) => toCut(columns[index]!) === cut && fitted[index]! > least[index]!)
      .sort((a, b) => fitted[b]! - fitted[a]! || a - b)[0];
  while (totalWidth(fitted) > width) {
    const index = widest(undefined) ?? widest("last");
    if (index === undefined) break;
    fitted[index]!--;
  }
  return fitted;
}

/** A cell in a column: filled with spaces, or cut with an ellipsis. */
function padded(cell: string, width: number): string {
  const text = textWidth(cell) <= width ? cell : cut(cell, width);
  return text + " ".repeat(width - textWidth(text));
}

/** The width with the gaps. */
const totalWidth = (widths: readonly number[]): number =>
  widths.reduce((total, width) => total + width + gap, -gap);

/** The columns that a text takes on a terminal. */
const textWidth = (text: string): number => (/^[ -~]*$/.test(text) ? text.length : stringWidth(text));

export interface Column<Row> {
  /** The field name of the service. */
  readonly name: string;
  /** The content of the cell; null and undefined leave it empty. */
  value(row: Row): string | number | boolean | null | undefined;
  /** For values that users copy: `last` is cut after all others, `never` not at all (`toCut`). */
  readonly cut?: "last" | "never";
  /** `first`: dropped before others are cut; `last`: after the IDs. The others are dropped from the right. */
  readonly drop?: "first" | "last";
  /** The width below which the column is dropped rather than cut (default: 12). */
  readonly least?: number;
  /** Set for a column that only one of the two formats shows. */
  readonly only?: "table" | "csv";
}

/** For `least`: a value that is useless when cut, such as a timestamp or a status. */
export const whole = Number.POSITIVE_INFINITY;

export const listFormats = ["table", "json", "ndjson", "csv", "xlsx"] as const;
export type ListFormat = (typeof listFormats)[number];

/** The text of a cell; empty without a value. A response may have an object where the contract has a text. */
export function toCell<Row>(column: Column<Row>, row: Row): string {
  const value: unknown = column.value(row) ?? "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Columns by which users know a row. A table begins with them, in this order, and cuts them last. */
const leading: readonly string[] = ["reference", "name"];
/** Columns that begin a table without such columns. */
const titles: readonly string[] = ["file", "url"];
/** Columns of IDs, which end a table: half an ID is useless. */
const isId = (name: string): boolean => /(?:^|[_.])ids?$/.test(name);

/** The `cut` of a column in a table; by its name for references, names and IDs. */
export const toCut = ({ name, cut }: Pick<Column<never>, "name" | "cut">): "last" | "never" | undefined => {
  if (isId(name)) return "never";
  return leading.includes(name) ? "last" : cut;
};

/** Columns of a table: reference and name first, the row's ID last. CSV keeps its order. */
export function inTableOrder<Row>(columns: readonly Column<Row>[]): readonly Column<Row>[] {
  // Rows without an ID, such as those of a mapping, are known by more than a name.
  if (!columns.some(({ name }) => isId(name))) return columns;
  const place = ({ name }: Column<Row>) => {
    if (name === "id") return 3;
    if (isId(name)) return 2;
    const index = [...leading, ...titles].indexOf(name);
    return index === -1 ? 1 : index / 10;
  };
  return [...columns].sort((a, b) => place(a) - place(b));
}

export const columnsFor = <Row>(columns: readonly Column<Row>[], format: "table" | "csv"): Column<Row>[] =>
  columns.filter((column) => column.only === undefined || column.only === format);

export interface Printing<Row> {
  readonly columns: readonly Column<Row>[];
  /** Default: NDJSON with `--json`, else a table. */
  readonly format?: ListFormat | undefined;
  /** The chosen fields of a resource, for JSON; null for all of them, unchanged. */
  readonly select?: ((resource: unknown) => object) | null;
  /** Called with all rows before they are drawn, e.g. to read what they refer to. */
  readonly beforeTable?: ((rows: readonly Row[]) => Promise<void>) | undefined;
  /** Whether cells of a CSV that a spreadsheet would run are guarded (default: true). */
  readonly formulaGuard?: boolean;
  /** Whether CSV is written for Excel (default: as the profile says). */
  readonly excel?: boolean | undefined;
  /** The file to write, as typed (default: standard output). */
  readonly out?: string | undefined;
}
