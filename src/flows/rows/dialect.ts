// How a CSV file separates its columns, and where its header is.

import { type FoundHeader, findHeader, type HeaderForm, SearchedRecords } from "./find-header.ts";
import { delimiters, parseCells } from "./odd-lines.ts";

export interface Dialect {
  readonly delimiter: string;
  /** Whether the file starts with a `sep=` line, as spreadsheets write it. */
  readonly isDeclared: boolean;
  /** Records with text above the header, besides that line. */
  readonly recordsAbove: number;
}

/**
 * The delimiter of a `sep=` line, else the one with most known columns; on a tie, the one with which most
 * records are equally long (commas within prices are not).
 */
export function recogniseDialect(head: string, given: string | undefined, form: HeaderForm): Dialect {
  // Some programs quote it, like any cell that contains the delimiter.
  const declared = /^(?:sep=([^\r\n])|"sep=([^\r\n"])")(?:\r\n|\n|\r|$)/i.exec(head);
  const isDeclared = declared !== null;
  const known = given ?? declared?.[1] ?? declared?.[2];
  const records = firstRecords(isDeclared ? head.slice(declared[0].length) : head);
  const { delimiter, header } = likeliest(records, known === undefined ? delimiters : [known], form);
  return { delimiter, isDeclared, recordsAbove: header?.at ?? 0 };
}

/** The delimiter that a header seems to use instead; null if the given one yields a known column. */
export function fittingDelimiter(header: readonly string[], read: string, form: HeaderForm): string | null {
  const isKnown = (cell: string) => cell.trim() !== "" && form.isColumn(cell);
  if (header.some(isKnown)) return null;
  const line = header.join(read);
  const { delimiter: fitting } = likeliest([line], delimiters, form);
  const cells = parseCells(line, fitting);
  const fits = header.length === 1 ? cells.length > 1 : cells.some(isKnown);
  return fits && fitting !== read ? fitting : null;
}

/** The first records unparsed, without blank ones; the end of the head may cut the last one. */
function firstRecords(head: string): string[] {
  const records: string[] = [];
  let quoted = false;
  let start = 0;
  const searched = new SearchedRecords();
  let isSearched = true;
  for (let at = 0; at <= head.length && isSearched; at++) {
    const character = head[at];
    // A quote within a cell opens none, and two of them close none.
    if (quoted && character === '"' && head[at + 1] === '"') at++;
    else if (character === '"' && (quoted || at === start || isDelimiter(head[at - 1]!))) quoted = !quoted;
    const isEnd = character === undefined || (!quoted && (character === "\n" || character === "\r"));
    if (!isEnd) continue;
    const record = head.slice(start, at);
    if (record.trim() !== "") {
      records.push(record);
      isSearched = searched.add(record);
    }
    start = at + 1;
  }
  return records;
}

const isDelimiter = (character: string): boolean => (delimiters as readonly string[]).includes(character);

function likeliest(
  records: readonly string[],
  among: readonly string[],
  form: HeaderForm,
): { delimiter: string; header: FoundHeader | null } {
  // With nearly every file one has columns alone, and no other needs a look.
  const isExact = (delimiter: string) => {
    const cells = parseCells(records[0] ?? "", delimiter);
    return cells.length > 1 && cells.every((cell) => cell.trim() !== "" && form.isColumn(cell));
  };
  const exact = among.filter(isExact);
  let best = { delimiter: among[0]!, header: null as FoundHeader | null, known: -1, alike: -1, cells: 0 };
  for (const delimiter of exact.length === 1 ? exact : among) {
    const table = records
      .map((record) => parseCells(record, delimiter))
      .filter((cells) => cells.some((cell) => cell.trim() !== ""));
    if (table.length === 0) continue;
    const header = findHeader(table, form);
    const { known } = header;
    const alike = mostAlike(table);
    const cells = table[header.at]!.length;
    if ((known - best.known || alike - best.alike || cells - best.cells) > 0)
      best = { delimiter, header, known, alike, cells };
  }
  return best;
}

/** How many records have the number of cells that most of them have; 0 if that is one. */
function mostAlike(table: readonly (readonly string[])[]): number {
  const counts = new Map<number, number>();
  for (const { length } of table) if (length > 1) counts.set(length, (counts.get(length) ?? 0) + 1);
  return Math.max(0, ...counts.values());
}
