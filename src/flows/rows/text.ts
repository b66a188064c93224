import { isUtf8 } from "node:buffer";
import {
  type EncodingName,
  encodingAdvice,
  formBytes,
  type TextForm,
  textFormOf,
  unmarkedUtf16,
} from "./encoding.ts";
import { UnreadableInput } from "./problem.ts";

/**
 * A file's bytes as UTF-8 without a byte order mark, whatever its encoding. Throws UnreadableInput with the
 * line of the first byte that is not text in the encoding: `wrong_encoding` or `nul_byte`.
 */
export async function* utf8Chunks(
  chunks: AsyncIterable<Buffer>,
  encoding: EncodingName,
): AsyncGenerator<Buffer> {
  const whole = withFullStart(chunks);
  const first = await whole.next();
  if (first.done) return;
  const head = first.value;
  for (const [magic, message] of notText) {
    if (head.subarray(0, magic.length).equals(magic))
      throw new UnreadableInput({ line: 1, code: "wrong_format", message });
  }
  const all = prepend(head, whole);
  const form = textFormOf(head, encoding);
  yield* form.encoding === "utf-8" ? checkedUtf8(all) : decoded(all, form.encoding);
}

/** The form of a file's text; null for an empty file. Throws UnreadableInput if it cannot be determined. */
export async function readTextForm(
  chunks: AsyncIterable<Buffer>,
  encoding: EncodingName,
): Promise<TextForm | null> {
  for await (const head of withFullStart(chunks)) return textFormOf(head, encoding);
  return null;
}

/** The first line end of a text outside quotes; `\n` if it has none. */
export async function lineEndOf(chunks: AsyncIterable<Buffer>, encoding: EncodingName): Promise<string> {
  let quoted = false;
  let afterReturn = false;
  for await (const chunk of utf8Chunks(chunks, encoding)) {
    for (const byte of chunk) {
      if (afterReturn) return byte === 10 ? "\r\n" : "\r";
      if (byte === 34) quoted = !quoted;
      else if (!quoted && byte === 10) return "\n";
      afterReturn = !quoted && byte === 13;
    }
  }
  return afterReturn ? "\r" : "\n";
}

/** Files often mistaken for CSV, by their first bytes, with the message for each. */
const notText: readonly (readonly [Buffer, string])[] = [
  [
    Buffer.from([0x50, 0x4b, 0x03, 0x04]),
    "Excel workbook or ZIP file, not text: save it as CSV (UTF-8) and import that file",
  ],
  [Buffer.from([0x1f, 0x8b, 0x08]), "gzip file, not text: unpack it (gunzip) and import that file"],
];
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** The same chunks, with a first one long enough to determine the form of the text (or the entire file). */
async function* withFullStart(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, undefined> {
  let start: Buffer | null = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (start === null) {
      yield chunk;
      continue;
    }
    start = Buffer.concat([start, chunk]);
    if (start.length < formBytes) continue;
    yield start;
    start = null;
  }
  if (start !== null && start.length > 0) yield start;
}

async function* prepend(first: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* rest;
}

async function* checkedUtf8(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const lines = new LineCounter();
  let carried = Buffer.alloc(0);
  let atStart = true;
  for await (const chunk of chunks) {
    let bytes = carried.length > 0 ? Buffer.concat([carried, chunk]) : chunk;
    if (atStart && bytes.subarray(0, 3).equals(byteOrderMark)) bytes = bytes.subarray(3);
    atStart = false;
    // A character cut by the chunk's end waits for its remaining bytes.
    const cut = wholeCharacters(bytes);
    const text = bytes.subarray(0, cut);
    if (!isUtf8(text)) throw notUtf8(text, lines);
    rejectNul(text, lines);
    lines.count(text);
    carried = Buffer.from(bytes.subarray(cut));
    yield text;
  }
  if (carried.length > 0) throw notUtf8(carried, lines);
}

async function* decoded(chunks: AsyncIterable<Buffer>, encoding: string): AsyncGenerator<Buffer> {
  const lines = new LineCounter();
  const decoder = new TextDecoder(encoding, { fatal: true });
  const decode = (chunk?: Buffer): Buffer => {
    try {
      return Buffer.from(
        // Without `stream` some Node releases read Windows-1252 as ISO-8859-1: no euro sign, no dashes.
        chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true }),
        "utf8",
      );
    } catch {
      if (chunk !== undefined) lines.count(beforeFault(chunk, encoding));
      throw new UnreadableInput({
        line: lines.line,
        code: "wrong_encoding",
        message: `text is not ${encoding} from here on: use --encoding with the encoding of the file`,
      });
    }
  };
  for await (const chunk of chunks) {
    const text = decode(chunk);
    rejectNul(text, lines);
    lines.count(text);
    if (text.length > 0) yield text;
  }
  const rest = decode();
  if (rest.length > 0) yield rest;
}

/**
 * The text of a chunk before the bytes that are not in the encoding. The start of the chunk may cut a valid
 * character in two: search after the end of the first line first, then in the first line.
 */
function beforeFault(chunk: Buffer, encoding: string): Buffer {
  const text = new TextDecoder(encoding).decode(chunk, { stream: true });
  const at = text.indexOf("\ufffd", text.indexOf("\n") + 1);
  return Buffer.from(at === -1 ? "" : text.slice(0, at), "utf8");
}

/** Counts line ends cheaply: newline bytes only. */
class LineCounter {
  line = 1;
  #afterReturn = false;

  count(text: Buffer): void {
    let lines = 0;
    for (let at = text.indexOf(10); at !== -1; at = text.indexOf(10, at + 1)) lines++;
    // A lone carriage return also ends a line; most files have none, or one before each newline.
    if (text.includes(13) || this.#afterReturn) lines += this.#loneReturns(text);
    this.line += lines;
  }

  #loneReturns(text: Buffer): number {
    let lone = this.#afterReturn && text[0] !== 10 ? 1 : 0;
    for (let at = text.indexOf(13); at !== -1; at = text.indexOf(13, at + 1)) {
      if (at + 1 < text.length && text[at + 1] !== 10) lone++;
    }
    this.#afterReturn = text[text.length - 1] === 13;
    return lone;
  }
}

function rejectNul(text: Buffer, lines: LineCounter): void {
  const at = text.indexOf(0);
  if (at === -1) return;
  lines.count(text.subarray(0, at));
  throw new UnreadableInput({
    line: lines.line,
    code: "nul_byte",
    message: `contains a NUL byte, so it is not plain text: for UTF-16, use --encoding ${unmarkedUtf16(text) ?? "utf-16le"}`,
  });
}

function notUtf8(text: Buffer, lines: LineCounter): UnreadableInput {
  const at = firstInvalid(text);
  lines.count(text.subarray(0, at));
  const byte = `0x${(text[at] ?? 0).toString(16).toUpperCase().padStart(2, "0")}`;
  return new UnreadableInput({
    line: lines.line,
    code: "wrong_encoding",
    message: `byte ${byte} is not UTF-8: save the file as UTF-8, or try ${encodingAdvice(text, at)}`,
  });
}

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

function firstInvalid(bytes: Buffer): number {
  let valid = 0;
  let invalid = bytes.length;
  while (valid < invalid) {
    const middle = (valid + invalid + 1) >> 1;
    if (
      isUtf8(bytes.subarray(0, middle)) ||
      isUtf8(bytes.subarray(0, wholeCharacters(bytes.subarray(0, middle))))
    ) {
      valid = middle;
    } else {
      invalid = middle - 1;
    }
  }
  // The first byte of the incomplete or invalid character.
  return wholeCharacters(bytes.subarray(0, valid));
}
