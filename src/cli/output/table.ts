import Table from "cli-table3";
import { type Column, cellOf, columnsFor, cutOf } from "./columns.ts";

/** How a table is laid out. */
export interface TableLayout {
  /** The width to keep to, as on a terminal; null cuts nothing. */
  width: number | null;
  heading(text: string): string;
  /** As `Io.visible`. */
  visible(text: string): string;
}

/** A table, and the names of the columns that it has no room for. */
export interface DrawnTable {
  text: string;
  dropped: string[];
}

const gap = 2;
/** No column is cut below this: others are left out, and a terminal that is too narrow for IDs and references wraps. */
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

/** Rows as a table without borders, one line a row, with its line ends. */
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

/** The places of the columns that stay. References and IDs stay whatever the width is. */
function keptColumns(
  columns: readonly Pick<Column<never>, "name" | "cut" | "drop">[],
  widths: readonly number[],
  width: number,
): number[] {
  const least = (index: number) =>
    cutOf(columns[index]!) === "never" ? widths[index]! : Math.min(widths[index]!, narrowest + gap);
  let kept = columns.map((_, index) => index);
  while (sum(kept.map(least)) - gap > width) {
    const candidates = kept.filter((index) => cutOf(columns[index]!) === undefined);
    const dropped = candidates.findLast((index) => columns[index]!.drop === "first") ?? candidates.at(-1);
    if (dropped === undefined) break;
    kept = kept.filter((index) => index !== dropped);
  }
  return kept;
}

/** Draws the lines; without widths each column is as wide as its widest cell. Tells the widths, gaps included. */
function draw(head: string[], cells: string[][], widths: number[] = []): { text: string; widths: number[] } {
  const drawn = new Table({
    chars: borderless,
    style: { "padding-left": 0, "padding-right": gap, head: [], border: [], compact: true },
    colWidths: widths,
    head,
  });
  drawn.push(...cells);
  // Drawing fills the widths in: the table's own measure of wide characters, so that ours cannot differ.
  const text = drawn.toString();
  return { text, widths: drawn.options.colWidths.map((width) => width ?? 0) };
}

function finish(text: string, layout: TableLayout): string {
  const [heading, ...lines] = text.split("\n").map((line) => line.trimEnd());
  return `${[layout.heading(heading!), ...lines].join("\n")}\n`;
}

/**
 * Takes width from the widest column that may be cut, again and again, until the sum fits: first from those that are not to
 * be cut last, then from any but those that are never cut.
 */
function fitted(
  columns: readonly Pick<Column<never>, "name" | "cut">[],
  widths: readonly number[],
  width: number,
): number[] {
  const result = [...widths];
  const widest = (candidates: number[]) =>
    candidates
      .filter((index) => result[index]! > narrowest + gap)
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
