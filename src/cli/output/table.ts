import Table from "cli-table3";
import { type Column, cellOf, columnsFor, cutOf } from "./columns.ts";

/** The layout of a table. */
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

const edges = [
  "top",
  "top-mid",
  "top-left",
  "top-right",
  "bottom",
  "bottom-mid",
  "bottom-left",
  "bottom-right",
];
const borderless = Object.fromEntries(
  [...edges, "left", "left-mid", "mid", "mid-mid", "right", "right-mid", "middle"].map((place) => [
    place,
    "",
  ]),
);

/** Rows as a table without borders, one line per row, line ends included. */
export function table<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  layout: TableLayout,
): DrawnTable {
  const shown = columnsFor(columns, "table");
  const head = shown.map((column) => column.name);
  const cells = rows.map((row) => shown.map((column) => layout.visible(cellOf(column, row))));
  const { text, widths } = draw(head, cells);
  const { width } = layout;
  if (width === null || sum(widths) - gap <= width) return { text: finish(text, layout), dropped: [] };
  const kept = keptColumns(shown, widths, width);
  const of = <Value>(values: readonly Value[]): Value[] => kept.map((index) => values[index]!);
  const drawn = draw(of(head), cells.map(of), fitted(of(shown), of(widths), width));
  return {
    text: finish(drawn.text, layout),
    dropped: head.filter((_, index) => !kept.includes(index)),
  };
}

type Cuttable = Pick<Column<never>, "name" | "cut" | "drop" | "least">;

/** The width, gap included, below which a column is useless. */
function leastWidth(column: Cuttable, width: number): number {
  const cut = cutOf(column);
  if (cut === "never") return width;
  return Math.min(width, (column.least ?? (cut === "last" ? usefulReference : useful)) + gap);
}

/** The indexes of the columns to keep. References and IDs are kept at any width. */
function keptColumns(columns: readonly Cuttable[], widths: readonly number[], width: number): number[] {
  const least = widths.map((width, index) => leastWidth(columns[index]!, width));
  const fits = (indexes: readonly number[], needed: readonly number[]) =>
    sum(indexes.map((index) => needed[index]!)) - gap <= width;
  let kept = columns.map((_, index) => index);
  const drop = (isFirst: boolean): boolean => {
    const dropped = kept.findLast(
      (index) => cutOf(columns[index]!) === undefined && (columns[index]!.drop === "first" || !isFirst),
    );
    kept = kept.filter((index) => index !== dropped);
    return dropped !== undefined;
  };
  while (!fits(kept, widths) && drop(true));
  while (!fits(kept, least) && drop(false));
  return kept;
}

/**
 * Draws the lines and returns the widths, gaps included. Without `widths` each column is as wide as its
 * widest cell.
 */
function draw(head: string[], cells: string[][], widths: number[] = []): { text: string; widths: number[] } {
  const drawn = new Table({
    chars: borderless,
    style: { "padding-left": 0, "padding-right": gap, head: [], border: [], compact: true },
    colWidths: widths,
    head,
  });
  drawn.push(...cells);
  // Drawing sets the widths. Use those of the library, which also measures wide characters.
  const text = drawn.toString();
  return { text, widths: drawn.options.colWidths.map((width) => width ?? 0) };
}

function finish(text: string, layout: TableLayout): string {
  const [heading, ...lines] = text.split("\n").map((line) => line.trimEnd());
  return `${[layout.heading(heading!), ...lines].join("\n")}\n`;
}

/**
 * Narrows the widest column that may be cut, one character at a time, until the table fits: first columns
 * without a `cut`, then those that are cut last.
 */
function fitted(columns: readonly Cuttable[], widths: readonly number[], width: number): number[] {
  const result = [...widths];
  const least = widths.map((width, index) =>
    cutOf(columns[index]!) === "last" ? narrowest + gap : leastWidth(columns[index]!, width),
  );
  const widest = (candidates: number[]) =>
    candidates
      .filter((index) => result[index]! > least[index]!)
      .sort((one, other) => result[other]! - result[one]! || one - other)[0];
  const all = columns.map((_, index) => index);
  const first = all.filter((index) => cutOf(columns[index]!) === undefined);
  const last = all.filter((index) => cutOf(columns[index]!) === "last");
  while (sum(result) - gap > width) {
    const index = widest(first) ?? widest(last);
    if (index === undefined) break;
    result[index]!--;
  }
  return result;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
