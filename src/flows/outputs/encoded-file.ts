import type { EncodingName, TextForm } from "../rows/encoding.ts";
import type { InputFormat } from "../rows/source.ts";
import { canEncode, encoderOf } from "./encode.ts";
import type { OutputFile } from "./output-file.ts";
import type { OutputPipe } from "./output-pipe.ts";

/** Characters buffered before they are encoded. */
const bufferLength = 64 * 1024;

/**
 * The form of a failed file: that of its input, or UTF-8 with a mark (which spreadsheets recognize) if the
 * encoding cannot be written. UTF-16 without a mark gets one: it was recognized by content that is different
 * now.
 */
export function failedFormOf(input: TextForm, given: EncodingName, format: InputFormat): TextForm {
  if (!canEncode(input.encoding)) return { encoding: "utf-8", marked: format === "csv" };
  const isUtf16 = input.encoding === "utf-16le" || input.encoding === "utf-16be";
  return { ...input, marked: input.marked || (isUtf16 && (given === undefined || given === "utf-16")) };
}

/** The `--encoding` value that reads a failed file of an input read with `given`; undefined if it is recognized. */
export const encodingOfFailedFile = (given: EncodingName): EncodingName =>
  given === undefined || given === "utf-8" || given === "utf-16" || !canEncode(given) ? undefined : given;

/** A file or pipe to which text is written in its own encoding and form. */
export class EncodedFile {
  readonly #file: OutputFile | OutputPipe;
  /** Null for UTF-8, which the file writes itself. */
  readonly #encode: ((text: string) => Buffer) | null;
  #buffered: string;

  /** `missing` returns the replacement of a character that the encoding lacks. */
  constructor(file: OutputFile | OutputPipe, form: TextForm, missing: (character: string) => string) {
    this.#file = file;
    this.#encode = form.encoding === "utf-8" ? null : encoderOf(form.encoding, missing);
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
