import type { Readable } from "node:stream";

/** Bytes that wait to be taken before the socket is held. */
const mostWaiting = 1024 * 1024;

/**
 * The chunks of a body, taken as many at a time as have come. A stream drops what it holds when its connection breaks; here
 * everything that came before the break is still given, and only then the error.
 */
export class BodyChunks {
  readonly #body: Readable;
  #chunks: Uint8Array[] = [];
  #waiting = 0;
  #end: { error: unknown } | "end" | null = null;
  #wake = () => {};

  /** Begins to read at once: it is to be made before anything else is waited for. */
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

  /** The chunks that have come since the last time; null at the end of the body. Rejects with what broke it. */
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
