import type { Readable } from "node:stream";

/** Buffered bytes after which the socket is paused. */
const mostWaiting = 1024 * 1024;

/**
 * The chunks of a body, taken as many at a time as have arrived. A stream drops its buffer when its
 * connection breaks; here everything received before the break is still returned, and the error only
 * afterwards.
 */
export class BodyChunks {
  readonly #body: Readable;
  #chunks: Uint8Array[] = [];
  #waiting = 0;
  #end: { error: unknown } | "end" | null = null;
  #wake = () => {};

  /** Starts to read immediately: create it before any other wait. */
  constructor(body: Readable) {
    this.#body = body;
    body
      .on("data", (chunk: Uint8Array) => {
        this.#chunks.push(chunk);
        this.#waiting += chunk.length;
        if (this.#waiting >= mostWaiting) body.pause();
        this.#wake();
      })
      .on("end", () => this.#ended("end"))
      .on("error", (error) => this.#ended({ error }))
      .on("close", () => this.#ended({ error: Object.assign(new Error("closed"), { code: "ECONNRESET" }) }));
  }

  /** The chunks received since the last time; null at the end of the body. Rejects with the error that broke it. */
  async take(): Promise<readonly Uint8Array[] | null> {
    while (this.#chunks.length === 0) {
      if (this.#end === "end") return null;
      if (this.#end !== null) throw this.#end.error;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const chunks = this.#chunks;
    this.#chunks = [];
    this.#waiting = 0;
    this.#body.resume();
    return chunks;
  }

  #ended(how: { error: unknown } | "end"): void {
    this.#end ??= how;
    this.#wake();
  }
}
