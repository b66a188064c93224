import type { EncodingName, TextForm } from "../rows/encoding.ts";
import type { InputFormat } from "../rows/source.ts";
import { canEncode, encoderOf } from "./encode.ts";
import type { OutputFile } from "./output-file.ts";
import type { OutputPipe } from "./output-pipe.ts";

/** Text is gathered to this many characters before it is encoded. */
const bufferLength = 64 * 1024;

/**
 * How a failed file is written: as its input was, but for an encoding that cannot be written, in place of which a
 * spreadsheet recognises UTF-8 with a mark. UTF-16 without one was recognised by its content, which is another now.
 */
export function failedFormOf(input: TextForm, given: EncodingName, format: InputFormat): TextForm {
  if (!canEncode(input.encoding)) return { encoding: "utf-8", marked: format === "csv" };
  const isUtf16 = input.encoding === "utf-16le" || input.encoding === "utf-16be";
  return { ...input, marked: input.marked || (isUtf16 && (given === undefined || given === "utf-16")) };
}

/** What `--encoding` must say to read a failed file, where its input was read with `given`; undefined where it is recognised. */
export const encodingOfFailedFile = (given: EncodingName): EncodingName =>
  given === undefined || given === "utf-8" || given === "utf-16" || !canEncode(given) ? undefined : given;

/** A file or pipe that text is written to in a form of its own. */
export class EncodedFile {
  readonly #file: OutputFile | OutputPipe;
  /** Null for UTF-8, which the file writes by itself. */
  readonly #encode: ((text: string) => Buffer) | null;
  #buffered: string;

  /** `missing` tells what is written for a character that the encoding does not have. */
  constructor(file: OutputFile | OutputPipe, form: TextForm, missing: (character: string) => string) {
    this.#file = file;
    this.#encode = form.encoding === "utf-8" ? null : encoderOf(form.encoding, missing);
    this.#buffered = form.marked ? "\ufeff" : "";
  }

  async write(text: string): Promise<void> {
    this.#buffered += text;
    if (this.#encode === null || this.#buffered.length >= bufferLength) await this.#flush();
  }

  /** As `OutputFile.commit`. */
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
