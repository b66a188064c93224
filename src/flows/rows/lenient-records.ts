import { formulaText } from "./formula-text.ts";
import { type CsvRecord, maxRecordLength, parseFault, StrayRecord } from "./records.ts";

const [quote, lineFeed, carriageReturn] = [34, 10, 13];

/** The maximum bytes of a valid record, with its quotes, delimiters and escapes. */
const longestText = 4 * maxRecordLength;

/**
 * The records after `linesBefore` lines of a CSV text in UTF-8, including those with stray quotes, at which
 * the parser stops. It is slower, so it is used only for text with such a quote.
 *
 * A quote within a line spoils its record. A quote that opens a cell, and that a later line seems to close,
 * spoils only its own line: the other lines are more likely separate records. The same applies if that
 * line and the closing line each have as many cells as the header (`width`). Throws ParseFault where records
 * can no longer be distinguished, after yielding those before.
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
  /** The number of cells in the header. */
  readonly #width: () => number;
  #linesToSkip: number;
  /** Text read but not yet assigned to a cell. */
  #text = Buffer.alloc(0);
  /** The unfinished record: its cells, the invalid ones, its length and the length of its text. */
  #begun = newRecord();

  constructor(delimiter: string, linesToSkip: number, width: () => number) {
    this.#delimiter = Buffer.from(delimiter);
    this.#width = width;
    this.#linesToSkip = linesToSkip;
  }

  /** Adds a chunk of complete characters and yields the records that end in it. */
  *take(chunk: Buffer, isLast: boolean): Generator<CsvRecord[]> {
    this.#text = Buffer.concat([this.#text, chunk]);
    this.#skipLines(isLast);
    if (this.#linesToSkip > 0) return;
    const records: CsvRecord[] = [];
    try {
      this.#read(records, isLast);
    } finally {
      // Yield the records before an error as well.
      if (records.length > 0) yield records;
    }
  }

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

  /** Reads the cells that are complete. */
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
   * The cell from `start` to `end`; null if more text is needed, unless the text `isAll`. An unclosed cell
   * has no known end, except in a record that `isSpoilt` already: there it ends with the line.
   */
  #cell(start: number, isAll: boolean, isSpoilt: boolean) {
    const text = this.#text;
    if (text[start] !== quote) {
      const end = this.#endOfCell(start);
      if (end === text.length && !isAll) return null;
      const cell = text.toString("utf8", start, end);
      // Programs that write for Excel put ="00123" into a cell without quotes.
      return { text: cell, end, isStray: cell.includes('"') && formulaText(cell) === null };
    }
    const close = closingQuote(text, start);
    // The next bytes may be another quote, or the rest of a delimiter.
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

  /**
   * Whether the first and last line of a cell look like two rows; null if the end of the last line is not
   * read yet.
   */
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

  /** The number of cells from `start` to `end` if quotes are ignored. */
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

  /**
   * The position after the line end, or the end of the text, at `at`; null if the rest of it is not read yet.
   */
  #afterLineEnd(at: number, isLast: boolean): number | null {
    const { length } = this.#text;
    const mayGoOn = at === length || (this.#text[at] === carriageReturn && at + 1 === length);
    if (mayGoOn && !isLast) return null;
    const isPair = this.#text[at] === carriageReturn && this.#text[at + 1] === lineFeed;
    return Math.min(length, at + (isPair ? 2 : 1));
  }
}

/** The quote that closes the cell opened at `start`; -1 if none does. */
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
