import type { RowForm } from "./row-form.ts";

/** The delimiter of a CSV file, and the number of lines before its header. */
export interface Dialect {
  delimiter: string;
  /** 1 if the file starts with a `sep=` line, as spreadsheets write it; otherwise 0. */
  linesBeforeHeader: number;
}

type IsColumn = Pick<RowForm, "isColumn">;

const candidates = [",", ";", "\t", "|"] as const;

/** Records of the head that are compared with its header. */
const comparedRecords = 20;

/**
 * Detects the delimiter from the head of a file: a `sep=` line decides. Otherwise the one that yields the
 * most known columns wins; on a tie, the one whose rows are as long as the header (commas within prices are
 * not).
 */
export function recogniseDialect(head: string, given: string | undefined, form: IsColumn): Dialect {
  // Some programs quote it, like any cell that contains the delimiter.
  const declared = /^(?:sep=([^\r\n])|"sep=([^\r\n"])")(?:\r\n|\n|\r|$)/i.exec(head);
  if (declared !== null) return { delimiter: given ?? declared[1] ?? declared[2]!, linesBeforeHeader: 1 };
  return { delimiter: given ?? likeliest(firstRecords(head), form), linesBeforeHeader: 0 };
}

/** The delimiter that a header seems to use instead of the one it was read with; null if that yields a known column. */
export function fittingDelimiter(header: readonly string[], read: string, form: IsColumn): string | null {
  const isKnown = (cell: string) => cell.trim() !== "" && form.isColumn(cell);
  if (header.some(isKnown)) return null;
  const line = header.join(read);
  const fitting = likeliest([line], form);
  const cells = cellsOf(line, fitting);
  const fits = header.length === 1 ? cells.length > 1 : cells.some(isKnown);
  return fits && fitting !== read ? fitting : null;
}

/** The first records unparsed, without blank ones; the end of the head may cut the last one. */
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
    if ((known - best.known || alike - best.alike || cells.length - best.cells) > 0)
      best = { delimiter, known, alike, cells: cells.length };
  }
  return best.delimiter;
}

/** The cells of a record without their quotes: exact enough to count and recognize them. */
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
