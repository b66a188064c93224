import type { OutputFile } from "../files/output-file.ts";
import type { EncodingName, TextForm } from "../rows/encoding.ts";
import type { InputFormat } from "../rows/input-format.ts";

/** Characters buffered before they are encoded. */
const bufferLength = 64 * 1024;

/**
 * The form of a failed file: that of its input, or UTF-8 with a mark (which spreadsheets recognize) if the
 * encoding cannot be written. UTF-16 without a mark gets one: it was recognized by content that is different
 * now.
 */
export function toFailedForm(input: TextForm, given: EncodingName, format: InputFormat): TextForm {
  if (!canEncode(input.encoding)) return { encoding: "utf-8", marked: format === "csv" };
  const isUtf16 = input.encoding === "utf-16le" || input.encoding === "utf-16be";
  return { ...input, marked: input.marked || (isUtf16 && (given === undefined || given === "utf-16")) };
}

/** The `--encoding` for the failed file of an input read with `given`; undefined if recognized. */
export const encodingOfFailedFile = (given: EncodingName): EncodingName =>
  given === undefined || given === "utf-8" || given === "utf-16" || !canEncode(given) ? undefined : given;

export class EncodedFile {
  readonly #file: OutputFile;
  /** Null for UTF-8, which the file writes itself. */
  readonly #encode: ((text: string) => Buffer) | null;
  #buffered: string;

  /** `missing` returns the replacement of a character that the encoding lacks. */
  constructor(file: OutputFile, form: TextForm, missing: (character: string) => string) {
    this.#file = file;
    this.#encode = form.encoding === "utf-8" ? null : createEncoder(form.encoding, missing);
    this.#buffered = form.marked ? "\ufeff" : "";
  }

  async write(text: string): Promise<void> {
    this.#buffered += text;
    if (this.#encode === null || this.#buffered.length >= bufferLength) await this.#flush();
  }

  /** See `OutputFile.commit`. */
  async commit(): Promise<number> {
    await this.#flush();
    return this.#file.commit();
  }

  discard(): Promise<void> {
    return this.#file.discard();
  }

  async #flush(): Promise<void> {
    const text = this.#buffered;
    this.#buffered = "";
    await (this.#encode === null ? this.#file.write(text) : this.#file.writeBytes(this.#encode(text)));
  }
}
/** Encodings with escape sequences or four bytes per character: the decoder's table cannot be inverted. */
const notWritable: ReadonlySet<string> = new Set(["iso-2022-jp", "gb18030"]);

/** Whether text can be written in an encoding, by its `TextDecoder` name. */
export const canEncode = (encoding: string): boolean => !notWritable.has(encoding);

/**
 * Encodes text in an encoding for which `canEncode`; `missing` gives the replacement of a character the
 * encoding lacks.
 *
 * It inverts the decoder's own table, so that text read from a file is written back unchanged. Other tables
 * differ in the euro sign of Macintosh, private characters in Japanese and Chinese, and unassigned bytes.
 */
export function createEncoder(
  encoding: string,
  missing: (character: string) => string,
): (text: string) => Buffer {
  if (encoding === "utf-8") return (text) => Buffer.from(text, "utf8");
  if (encoding === "utf-16le") return (text) => Buffer.from(text, "utf16le");
  if (encoding === "utf-16be") return (text) => Buffer.from(text, "utf16le").swap16();
  const codes = encodingCodes(encoding);
  const isKnown = (character: string) => codes.has(character.codePointAt(0)!);
  return (text) => {
    const characters = Array.from(text);
    const known = characters.every(isKnown)
      ? characters
      : characters.flatMap((character) => (isKnown(character) ? character : Array.from(missing(character))));
    const bytes = Buffer.allocUnsafe(known.length * longestCode);
    let end = 0;
    for (const character of known) {
      const code = codes.get(character.codePointAt(0)!)!;
      const length = code > 0xffff ? 3 : code > 0xff ? 2 : 1;
      end = bytes.writeUIntBE(code, end, length);
    }
    return bytes.subarray(0, end);
  };
}

/** The maximum bytes of a character: three in EUC-JP. */
const longestCode = 3;

/** The bytes of every character as a number. Takes 0.1 s for an encoding with two bytes per character. */
function encodingCodes(encoding: string): ReadonlyMap<number, number> {
  const decoder = new TextDecoder(encoding);
  const codes = new Map<number, number>();
  /** Adds the bytes if they are one character; whether they are. The first encoding of a character wins. */
  const add = (...bytes: number[]): boolean => {
    // The second call flushes the first; a call without `stream` would use another table (see text.ts).
    const text = decoder.decode(Uint8Array.from(bytes), { stream: true }) + decoder.decode();
    const code = text.codePointAt(0);
    if (code === undefined || text.includes("\ufffd") || String.fromCodePoint(code) !== text) return false;
    // Bytes without a character, with which no file is read.
    const isControl = code >= 0x80 && code <= 0x9f;
    if (!isControl && !codes.has(code)) codes.set(code, Buffer.from(bytes).readUIntBE(0, bytes.length));
    return true;
  };
  for (let byte = 0; byte < 0x100; byte++) {
    if (add(byte) || byte < 0x80) continue;
    for (let second = 0x30; second < 0x100; second++) {
      if (add(byte, second) || second < 0x80 || byte !== 0x8f || encoding !== "euc-jp") continue;
      for (let third = 0xa1; third < 0xff; third++) add(byte, second, third);
    }
  }
  return codes;
}
