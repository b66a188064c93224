import stringWidth from "string-width";
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

/** The spaces between columns. */
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
  const cells = rows.map((row) => shown.map((column) => layout.visible(cellOf(column, row))));
  const widths = head.map((name, index) =>
    cells.reduce((widest, line) => Math.max(widest, widthOf(line[index]!)), widthOf(name)),
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

/** The indexes of the columns to keep. References and IDs are kept at any width. */
function keptColumns(columns: readonly Cuttable[], widths: readonly number[], width: number): number[] {
  const least = widths.map((width, index) => leastWidth(columns[index]!, width));
  const fits = (needed: readonly number[]) => totalWidth(kept.map((index) => needed[index]!)) <= width;
  let kept = columns.map((_, index) => index);
  const drop = (isFirst: boolean): boolean => {
    const dropped = kept.findLast(
      (index) => cutOf(columns[index]!) === undefined && (columns[index]!.drop === "first" || !isFirst),
    );
    kept = kept.filter((index) => index !== dropped);
    return dropped !== undefined;
  };
  while (!fits(widths) && drop(true));
  while (!fits(least) && drop(false));
  return kept;
}

/** The width below which a column is useless. */
function leastWidth(column: Cuttable, width: number): number {
  const cut = cutOf(column);
  if (cut === "never") return width;
  return Math.min(width, column.least ?? (cut === "last" ? usefulReference : useful));
}

/**
 * Narrows the widest column that may be cut, one character at a time, until the table fits: first columns
 * without a `cut`, then those that are cut last.
 */
function fittedWidths(columns: readonly Cuttable[], widths: readonly number[], width: number): number[] {
  const fitted = [...widths];
  const least = widths.map((width, index) =>
    cutOf(columns[index]!) === "last" ? narrowest : leastWidth(columns[index]!, width),
  );
  const widest = (cut: "last" | undefined) =>
    columns
      .map((_, index) => index)
      .filter((index) => cutOf(columns[index]!) === cut && fitted[index]! > least[index]!)
      .sort((one, other) => fitted[other]! - fitted[one]! || one - other)[0];
  while (totalWidth(fitted) > width) {
    const index = widest(undefined) ?? widest("last");
    if (index === undefined) break;
    fitted[index]!--;
  }
  return fitted;
}

/** A cell in a column: filled with spaces, or cut with an ellipsis. */
function padded(cell: string, width: number): string {
  const missing = width - widthOf(cell);
  if (missing >= 0) return cell + " ".repeat(missing);
  let text = "";
  let used = 0;
  for (const character of cell) {
    const next = used + widthOf(character);
    // One column is for the ellipsis.
    if (next >= width) break;
    text += character;
    used = next;
  }
  return `${text}…${" ".repeat(width - used - 1)}`;
}

/** The width with the gaps. */
const totalWidth = (widths: readonly number[]): number =>
  widths.reduce((total, width) => total + width + gap, -gap);

/** The columns that a text takes on a terminal. */
const widthOf = (text: string): number => (/^[ -~]*$/.test(text) ? text.length : stringWidth(text));
