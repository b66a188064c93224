import type { RowForm } from "./row-form.ts";

/** What separates the cells of a CSV file, and how many lines stand before its header. */
export interface Dialect {
  delimiter: string;
  /** 1 when the file begins with a `sep=` line, as spreadsheets write it; else 0. */
  linesBeforeHeader: number;
}

type IsColumn = Pick<RowForm, "isColumn">;

const candidates = [",", ";", "\t", "|"] as const;

/** How many bytes of a file's head are looked at. */
export const dialectBytes = 64 * 1024;

/** How many records of the head are compared with its header. */
const comparedRecords = 20;

/**
 * Tells a file's delimiter from its head: a `sep=` line says it, else the one that gives the most known columns; among
 * those the one by which the rows are as long as the header, as a comma within prices does not make them.
 */
export function recogniseDialect(head: string, given: string | undefined, form: IsColumn): Dialect {
  // Some write it in quotes, as any other cell that holds the delimiter.
  const declared = /^(?:sep=([^\r\n])|"sep=([^\r\n"])")(?:\r\n|\n|\r|$)/i.exec(head);
  if (declared !== null) return { delimiter: given ?? declared[1] ?? declared[2]!, linesBeforeHeader: 1 };
  return { delimiter: given ?? likeliest(firstRecords(head), form), linesBeforeHeader: 0 };
}

/**
 * The delimiter that a header seems to have in place of the one that was said, by a flag or a `sep=` line, and that cut
 * nothing of it, or nothing that is known; null where none fits better.
 */
export function betterThanSaid(header: readonly string[], said: string, form: IsColumn): string | null {
  const isKnown = (cell: string) => cell.trim() !== "" && form.isColumn(cell);
  if (header.some(isKnown)) return null;
  const line = header.join(said);
  const delimiter = likeliest([line], form);
  const cells = cellsOf(line, delimiter);
  const fits = header.length === 1 ? cells.length > 1 : cells.some(isKnown);
  return fits && delimiter !== said ? delimiter : null;
}

/** The first records as they stand, without blank ones; the last one may be cut by the head's end. */
function firstRecords(head: string): string[] {
  const records: string[] = [];
  let quoted = false;
  let start = 0;
  for (let at = 0; at <= head.length && records.length <= comparedRecords; at++) {
    const character = head[at];
    if (character === '"') quoted = !quoted;
    const isEnd = character === undefined || (!quoted && (character === "\n" || character === "\r"));
    if (!isEnd) continue;
    const record = head.slice(start, at);
    if (record.trim() !== "") records.push(record);
    start = at + 1;
  }
  return records;
}

function likeliest([header = "", ...rows]: readonly string[], form: IsColumn): string {
  let best = { delimiter: ",", known: -1, alike: -1, cells: 0 };
  for (const delimiter of candidates) {
    const cells = cellsOf(header, delimiter);
    const known = cells.filter((cell) => cell.trim() !== "" && form.isColumn(cell)).length;
    const alike =
      cells.length === 1 ? 0 : rows.filter((row) => cellsOf(row, delimiter).length === cells.length).length;
    const found = { delimiter, known, alike, cells: cells.length };
    if ((known - best.known || alike - best.alike || cells.length - best.cells) > 0) best = found;
  }
  return best.delimiter;
}

/** The cells of a record, without their quotes: good enough to count them, and to know their names. */
function cellsOf(record: string, delimiter: string): string[] {
  const cells = [""];
  let quoted = false;
  for (const character of record) {
    if (character === '"') quoted = !quoted;
    else if (character === delimiter && !quoted) cells.push("");
    else cells[cells.length - 1] += character;
  }
  return cells;
}
