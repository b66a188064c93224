import { isAscii, isUtf8 } from "node:buffer";
import {
  detectTextForm,
  type EncodingName,
  encodingAdvice,
  readAs,
  type TextForm,
  unmarkedUtf16,
} from "./encoding.ts";
import { UnreadableInput } from "./problem.ts";

/**
 * A file's bytes as UTF-8 without a byte order mark, whatever its encoding; the first chunk has `formBytes`
 * bytes, or all. Throws UnreadableInput (`wrong_encoding`, `nul_byte`) with the line of the first wrong byte.
 */
export async function* utf8Chunks(
  chunks: AsyncIterable<Buffer>,
  encoding: EncodingName,
): AsyncGenerator<Buffer> {
  const { first, all } = await peek(chunks);
  if (first === null) return;
  const form = detectTextForm(first, encoding);
  yield* form.encoding === "utf-8" ? checkedUtf8(all) : decoded(all, form.encoding);
}

/** The form of a file's text; null for an empty file. Throws UnreadableInput if it cannot be determined. */
export async function readTextForm(
  chunks: AsyncIterable<Buffer>,
  encoding: EncodingName,
): Promise<TextForm | null> {
  const { first } = await peek(chunks);
  return first === null ? null : detectTextForm(first, encoding);
}

/** The first line end of a text outside quotes; `\n` if the first chunk has none. */
export async function firstLineEnd(chunks: AsyncIterable<Buffer>, encoding: EncodingName): Promise<string> {
  const { first } = await peek(utf8Chunks(chunks, encoding));
  return /^(?:"[^"]*"|[^"\r\n])*(\r\n|\r|\n)/.exec(String(first ?? ""))?.[1] ?? "\n";
}

/** The first chunk, and all of them; null without any. */
export async function peek(
  chunks: AsyncIterable<Buffer>,
): Promise<{ first: Buffer | null; all: AsyncIterable<Buffer> }> {
  const rest = chunks[Symbol.asyncIterator]();
  const { value, done } = await rest.next();
  const first = done ? null : value;
  async function* all() {
    if (first !== null) yield first;
    yield* { [Symbol.asyncIterator]: () => rest };
  }
  return { first, all: all() };
}

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

async function* checkedUtf8(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const lines = new LineCounter();
  let carried = Buffer.alloc(0);
  let last: Buffer | null = null;
  let isForeign = false;
  for await (const chunk of chunks) {
    let bytes = carried.length > 0 ? Buffer.concat([carried, chunk]) : chunk;
    if (last === null && bytes.subarray(0, 3).equals(byteOrderMark)) bytes = bytes.subarray(3);
    if (last !== null) {
      lines.count(last);
      isForeign ||= !isAscii(last);
    }
    // A character cut by the chunk's end waits for its remaining bytes.
    const cut = wholeCharacters(bytes);
    const text = bytes.subarray(0, cut);
    if (!isUtf8(text)) throw await notUtf8(bytes, chunks, lines, isForeign);
    rejectNul(text, lines);
    rejectShifts(text, lines);
    carried = Buffer.from(bytes.subarray(cut));
    last = text;
    yield text;
  }
  if (carried.length > 0) throw await notUtf8(Buffer.concat([last!, carried]), chunks, lines, isForeign);
}

async function* decoded(chunks: AsyncIterable<Buffer>, encoding: string): AsyncGenerator<Buffer> {
  const lines = new LineCounter();
  const decoder = new TextDecoder(encoding, { fatal: true });
  const wrong = () =>
    new UnreadableInput({
      line: lines.line,
      code: "wrong_encoding",
      message: `text is not ${encoding} from here on: use --encoding with the encoding of the file, or save it as UTF-8`,
    });
  const decode = (chunk?: Buffer): Buffer => {
    let text: string;
    try {
      // Without `stream` some Node releases read Windows-1252 as ISO-8859-1: no euro sign, no dashes.
      text = chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
    } catch {
      if (chunk !== undefined) lines.count(beforeFault(chunk, encoding));
      throw wrong();
    }
    // Bytes without a character become control characters, which no table has: the ü of MS-DOS, for example.
    const control = encoding.startsWith("utf-16") ? -1 : text.search(/[\u0080-\u009f]/);
    if (control === -1) return Buffer.from(text);
    lines.count(Buffer.from(text.slice(0, control)));
    throw wrong();
  };
  for await (const chunk of encoding.startsWith("utf-16") ? chunks : withoutUtf8(chunks, encoding)) {
    const text = decode(chunk);
    rejectNul(text, lines, null);
    lines.count(text);
    if (text.length > 0) yield text;
  }
  const rest = decode();
  if (rest.length > 0) yield rest;
}

/** Encodings in which é or – of UTF-8 would be characters that no text has in this order, such as Ã©. */
const western = /^(?:windows-1252|iso-8859-15|macintosh)$/;
const letterOfUtf8 = /\xc3[\xa1-\xaa\xac-\xba\xbc-\xbf]|\xe2(?:\x80[\x93-\xa6]|\x82\xac)/;
/** Two bytes of UTF-8 may be a character of these, such as 女. */
const eastern = /^(?:gb|big5|euc|shift_jis|iso-2022)/;

/** Bytes of another encoding. Throws UnreadableInput for UTF-8: a letter would become two wrong ones. */
async function* withoutUtf8(chunks: AsyncIterable<Buffer>, encoding: string): AsyncGenerator<Buffer> {
  const lines = new LineCounter();
  const wrong = () =>
    new UnreadableInput({
      line: lines.line,
      code: "wrong_encoding",
      message: `text is UTF-8 here, not ${encoding}: remove --encoding, or save the complete file as UTF-8`,
    });
  const isWestern = western.test(encoding);
  const others = eastern.test(encoding) ? /[\xe3-\xef][\x80-\xbf]{2}/ : /[\x80-\xff]/;
  const sign = isWestern ? letterOfUtf8 : others;
  let isFound = false;
  // A letter may be cut by the end of a chunk.
  let last = "";
  let isUtf8 = true;
  const utf8 = new TextDecoder("utf-8", { fatal: true });
  for await (const chunk of chunks) {
    if (!isFound) {
      const bytes = last + chunk.toString("latin1");
      const at = bytes.search(sign);
      isFound = at !== -1;
      lines.count(isFound ? chunk.subarray(0, Math.max(0, at - last.length)) : chunk);
      last = bytes.slice(-2);
      if (isFound && isWestern) throw wrong();
    }
    isUtf8 &&= decodes(utf8, chunk);
    yield chunk;
  }
  if (isFound && isUtf8 && decodes(utf8)) throw wrong();
}

function decodes(decoder: InstanceType<typeof TextDecoder>, chunk?: Buffer): boolean {
  try {
    decoder.decode(chunk, { stream: chunk !== undefined });
    return true;
  } catch {
    return false;
  }
}

/**
 * The text of a chunk before bytes that are not in the encoding. Its start may cut a valid character in two:
 * search after the end of the first line first, then in the first line.
 */
function beforeFault(chunk: Buffer, encoding: string): Buffer {
  const text = new TextDecoder(encoding).decode(chunk, { stream: true });
  const at = text.indexOf("\ufffd", text.indexOf("\n") + 1);
  return Buffer.from(at === -1 ? "" : text.slice(0, at), "utf8");
}

/** Counts line ends cheaply: newlines, or carriage returns in a text without newlines. */
class LineCounter {
  #newlines = 0;
  #returns = 0;

  /** The line after the text that was counted. */
  get line(): number {
    return 1 + (this.#newlines || this.#returns);
  }

  count(text: Buffer): void {
    for (let at = text.indexOf(10); at !== -1; at = text.indexOf(10, at + 1)) this.#newlines++;
    if (this.#newlines > 0) return;
    for (let at = text.indexOf(13); at !== -1; at = text.indexOf(13, at + 1)) this.#returns++;
  }
}

const utf16 = ["utf-16le", "utf-16be"];

/** `toTry`: encodings in which a NUL byte is no character of its own; null if one was given. */
function rejectNul(text: Buffer, lines: LineCounter, toTry: readonly string[] | null = utf16): void {
  const at = text.indexOf(0);
  if (at === -1) return;
  const encoding = toTry && (unmarkedUtf16(text) ?? toTry.find((name) => isTableIn(name, text)));
  lines.count(text.subarray(0, at));
  if (!encoding && /[\x01-\x08\x0e-\x19\x1b-\x1f]/.test(text.toString("latin1"))) throw notText(lines.line);
  const advice = encoding ? `for UTF-16, use --encoding ${encoding}` : "save it as UTF-8";
  throw new UnreadableInput({
    line: lines.line,
    code: "nul_byte",
    message: `contains a NUL byte, so it is not plain text: ${advice}`,
  });
}

/** Encodings of seven bits: these escapes shift to the letters of Japan, and to those of Korea and China. */
const shifts = /^\x1b(?:(\$[@B]|\([IJ])|\$\)[ACEG])/;

/** Such a text looks like UTF-8, whose letters are all ASCII. */
function rejectShifts(text: Buffer, lines: LineCounter): void {
  const at = text.indexOf(0x1b);
  const shift = at === -1 ? null : shifts.exec(text.toString("latin1", at, at + 4));
  if (shift === null) return;
  lines.count(text.subarray(0, at));
  const names = shift[1] === undefined ? [] : ["iso-2022-jp"];
  const shownAs = (encoding: string) => readAs(encoding, text, at + shift[0].length);
  const encodings = { names, isSure: names.length > 0, shownAs };
  const message = `the file is not UTF-8; ${encodingAdvice(encodings)}`;
  throw new UnreadableInput({ line: lines.line, code: "wrong_encoding", message }, encodings);
}

/** Whether bytes are lines in UTF-16, without control characters that no text has. */
function isTableIn(encoding: string, bytes: Buffer): boolean {
  const text = new TextDecoder(encoding).decode(bytes, { stream: true });
  return /[\r\n]/.test(text) && !/[^\P{C}\t\r\n]|\ufffd/u.test(text);
}

const notText = (line: number): UnreadableInput =>
  new UnreadableInput({
    line,
    code: "invalid_file",
    message: "the file is not text: choose a CSV or NDJSON file, or a workbook",
  });

/** So many bytes after the first ones that are not UTF-8 decide the encoding. */
const examinedBytes = 256 * 1024;
/** Of these, so many of lines with foreign letters. */
const examinedText = 32 * 1024;

/** The error for a text that is not UTF-8. `isForeign`: earlier chunks have foreign letters as UTF-8. */
async function notUtf8(
  chunk: Buffer,
  more: AsyncIterable<Buffer>,
  lines: LineCounter,
  isForeign: boolean,
): Promise<UnreadableInput> {
  const at = firstInvalid(chunk);
  lines.count(chunk.subarray(0, at));
  const parts = [chunk];
  let length = chunk.length - at;
  if (length < examinedBytes) {
    for await (const part of more) {
      parts.push(part);
      length += part.length;
      if (length >= examinedBytes) break;
    }
  }
  const bytes = Buffer.concat(parts);
  if (isBinary(bytes)) return notText(lines.line);
  const { line } = lines;
  const problem = (message: string) => ({ line, code: "wrong_encoding", message }) as const;
  const foreign = bytes
    .toString("latin1")
    .split(/[\r\n]+/)
    .filter((text) => /[\x80-\xff]/.test(text));
  // Files of several programs, one after the other: any encoding is wrong for some of the rows.
  if (isForeign || foreign.some(hasUtf8)) {
    const message = `text is not UTF-8 here ("${readAs("windows-1252", bytes, at)}"), but in other places: save the complete file as UTF-8`;
    return new UnreadableInput(problem(message));
  }
  const { findEncodings } = await import("./find-encodings.ts");
  const text = Buffer.from(foreign.join("\n"), "latin1").subarray(0, examinedText);
  const encodings = findEncodings(text);
  return new UnreadableInput(problem(`the file is not UTF-8; ${encodingAdvice(encodings)}`), encodings);
}

/** Whether bytes have NUL, or as many control characters as no text has; lists of FileMaker have some. */
function isBinary(bytes: Buffer): boolean {
  // MS-DOS ends a text with the byte 26.
  const isControl = (byte: number) => byte < 9 || (byte > 13 && byte < 32 && byte !== 26) || byte === 127;
  const controls = bytes.filter(isControl).length;
  return bytes.includes(0) || controls * 200 > bytes.length;
}

/**
 * Whether a line has a cell of UTF-8. Two bytes may be UTF-8 by chance in other encodings, as 女 is: a cell
 * has a letter among Latin ones, or three of them.
 */
const hasUtf8 = (line: string): boolean =>
  line.split(/[,;|"\t]/).some((cell) => {
    const count = cell.match(/[\xc2-\xf4][\x80-\xbf]+/g)?.length ?? 0;
    const isWord = count >= 3 || (/[a-z]/i.test(cell) && letterOfUtf8.test(cell));
    return count > 0 && isWord && isUtf8(Buffer.from(cell, "latin1"));
  });

/** The offset after the last complete character: at most three bytes before the end. */
function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) return bytes.length;
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return length > back ? bytes.length - back : bytes.length;
    }
  }
  return bytes.length;
}

/** The offset of the first byte that is not part of a character: decoding replaces it. */
function firstInvalid(bytes: Buffer): number {
  const repaired = Buffer.from(bytes.toString("utf8"));
  const changed = bytes.findIndex((byte, at) => byte !== repaired[at]);
  return wholeCharacters(bytes.subarray(0, changed));
}
