import { maxRecordLength, parseFault } from "./records.ts";

/** A record with a quote where none may stand: its cells, those at fault as they stand in the file, and the places of these. */
export class StrayRecord {
  constructor(
    readonly cells: readonly string[],
    readonly atFault: ReadonlySet<number>,
  ) {}
}

/** A record of a CSV text. */
export type CsvRecord = readonly string[] | StrayRecord;

const [quote, lineFeed, carriageReturn] = [34, 10, 13];

/** No record is longer in bytes, with its quotes, delimiters and escapes, unless it is too long itself. */
const longestText = 4 * maxRecordLength;

/**
 * The records after `linesBefore` lines of a CSV text in UTF-8, also those with stray quotes, which the parser stops at. It
 * is slower, so it is for a text that has such a quote. One within a line spoils its record; one that opens a cell which
 * some later line seems to close spoils the line that it stands on, as the other lines are then rather records of their
 * own, and so it does where that line and the one of the closing quote have as many cells as the header (`width`). Throws ParseFault where nothing tells the records apart any more, after those before it were given out.
 */
export async function* lenientRecords(
  chunks: AsyncIterable<Buffer>,
  { delimiter, linesBefore, width }: { delimiter: string; linesBefore: number; width: () => number },
): AsyncGenerator<CsvRecord[]> {
  const text = new LenientText(delimiter, linesBefore, width);
  for await (const chunk of chunks) yield* text.take(chunk, false);
  yield* text.take(Buffer.alloc(0), true);
}

class LenientText {
  readonly #delimiter: Buffer;
  /** How many cells the header has. */
  readonly #width: () => number;
  #linesToSkip: number;
  /** What was read and is in no cell yet. */
  #text = Buffer.alloc(0);
  /** The record whose end was not read yet: its cells, those of them that are at fault, its length and that of its text. */
  #begun = newRecord();

  constructor(delimiter: string, linesToSkip: number, width: () => number) {
    this.#delimiter = Buffer.from(delimiter);
    this.#width = width;
    this.#linesToSkip = linesToSkip;
  }

  /** Adds a chunk of whole characters and gives out the records that end in it. */
  *take(chunk: Buffer, isLast: boolean): Generator<CsvRecord[]> {
    this.#text = Buffer.concat([this.#text, chunk]);
    this.#skipLines(isLast);
    if (this.#linesToSkip > 0) return;
    const records: CsvRecord[] = [];
    try {
      this.#read(records, isLast);
    } finally {
      // Those before a fault as well.
      if (records.length > 0) yield records;
    }
  }

  /** Leaves out lines of the start. */
  #skipLines(isLast: boolean): void {
    let at = 0;
    while (this.#linesToSkip > 0) {
      const next = this.#afterLineEnd(endOfLine(this.#text, at), isLast);
      if (next === null) break;
      at = next;
      this.#linesToSkip--;
    }
    this.#text = this.#text.subarray(at);
  }

  /** Reads the cells that are there. */
  #read(records: CsvRecord[], isLast: boolean): void {
    let at = 0;
    while (at < this.#text.length || (isLast && this.#begun.cells.length > 0)) {
      const begun = this.#begun;
      const isLong = begun.textLength + this.#text.length - at > longestText;
      const cell = this.#cell(at, isLast || isLong, begun.atFault.size > 0);
      if (cell === null) break;
      if (cell === "unclosed") throw parseFault(isLast ? "CSV_QUOTE_NOT_CLOSED" : "CSV_MAX_RECORD_SIZE");
      const isFollowed = this.#isDelimiter(cell.end);
      const end = isFollowed ? cell.end + this.#delimiter.length : this.#afterLineEnd(cell.end, isLast);
      if (end === null && !isLong) break;
      begun.textLength += cell.end - at + 1;
      const isTooLong = begun.length + Buffer.byteLength(cell.text) > maxRecordLength;
      if (end === null || isTooLong || begun.textLength > longestText)
        throw parseFault("CSV_MAX_RECORD_SIZE");
      if (cell.isStray) begun.atFault.add(begun.cells.length);
      begun.length += cell.text.length;
      begun.cells.push(cell.text);
      at = end;
      if (isFollowed) continue;
      records.push(begun.atFault.size === 0 ? begun.cells : new StrayRecord(begun.cells, begun.atFault));
      this.#begun = newRecord();
    }
    this.#text = this.#text.subarray(at);
  }

  /**
   * The cell from `start` to `end`; null where more is to come that belongs to it, unless what is there `isAll`. Nothing
   * tells where an unclosed one ends, but where its record `isSpoilt` already: with the line.
   */
  #cell(start: number, isAll: boolean, isSpoilt: boolean) {
    const text = this.#text;
    if (text[start] !== quote) {
      const end = this.#endOfCell(start);
      if (end === text.length && !isAll) return null;
      const cell = text.toString("utf8", start, end);
      return { text: cell, end, isStray: cell.includes('"') };
    }
    const close = closingQuote(text, start);
    // What follows may be another quote, or the rest of a delimiter.
    if (!isAll && (close === -1 || close + 1 === text.length)) return null;
    if (close === -1 && !isSpoilt) return "unclosed";
    const areRows = close === -1 ? false : this.#areRows(start, close, isAll);
    if (areRows === null) return null;
    if (close !== -1 && this.#isEndOfCell(close + 1) && !areRows) {
      const cell = text.toString("utf8", start + 1, close).replaceAll('""', '"');
      return { text: cell, end: close + 1, isStray: false };
    }
    const line = endOfLine(text, start);
    const end = close === -1 || line < close ? line : this.#endOfCell(close + 1);
    if (end === text.length && !isAll) return null;
    return { text: text.toString("utf8", start, end), end, isStray: true };
  }

  /** Whether the first and the last line of a cell are rather two rows; null where the end of the last one is not there yet. */
  #areRows(start: number, close: number, isAll: boolean): boolean | null {
    const line = endOfLine(this.#text, start);
    const width = this.#width();
    if (line > close || width < 2) return false;
    const lastEnd = endOfLine(this.#text, close);
    if (lastEnd === this.#text.length && !isAll) return null;
    let last = close;
    while (!isLineEnd(this.#text[last - 1]!)) last--;
    const before = this.#begun.cells.length;
    return before + this.#cellsIn(start, line) === width && this.#cellsIn(last, lastEnd) === width;
  }

  /** How many cells there would be from `start` to `end`, were no quote there. */
  #cellsIn(start: number, end: number): number {
    let cells = 1;
    for (let at = start; at < end; at++) if (this.#isDelimiter(at)) cells++;
    return cells;
  }

  #endOfCell(start: number): number {
    let at = start;
    while (!this.#isEndOfCell(at)) at++;
    return at;
  }

  #isEndOfCell(at: number): boolean {
    return at >= this.#text.length || isLineEnd(this.#text[at]!) || this.#isDelimiter(at);
  }

  #isDelimiter(at: number): boolean {
    if (this.#text[at] !== this.#delimiter[0]) return false;
    return (
      this.#delimiter.length === 1 ||
      this.#text.subarray(at, at + this.#delimiter.length).equals(this.#delimiter)
    );
  }

  /** The place after the line end, or the end of the text, at `at`; null where the rest of it is not there yet. */
  #afterLineEnd(at: number, isLast: boolean): number | null {
    const { length } = this.#text;
    const mayGoOn = at === length || (this.#text[at] === carriageReturn && at + 1 === length);
    if (mayGoOn && !isLast) return null;
    const isPair = this.#text[at] === carriageReturn && this.#text[at + 1] === lineFeed;
    return Math.min(length, at + (isPair ? 2 : 1));
  }
}

/** The quote that closes the cell which the one at `start` opens; -1 where there is none. */
function closingQuote(text: Buffer, start: number): number {
  let at = text.indexOf(quote, start + 1);
  while (at !== -1 && text[at + 1] === quote) at = text.indexOf(quote, at + 2);
  return at;
}

const newRecord = () => ({ cells: [] as string[], atFault: new Set<number>(), length: 0, textLength: 0 });

function endOfLine(text: Buffer, start: number): number {
  let at = start;
  while (at < text.length && !isLineEnd(text[at]!)) at++;
  return at;
}

const isLineEnd = (byte: number): boolean => byte === lineFeed || byte === carriageReturn;
