import type { IncomingMessage } from "node:http";

/** The longest body, in bytes; deliveries have some hundred. */
export const longestBody = 1024 * 1024;
/** What all bodies that are still arriving may hold together, in bytes. */
const mostInAll = 6 * 1024 * 1024;

interface Arriving {
  bytes: number;
  readonly giveUp: () => void;
}

/** Why a body was not read: it is too long, memory is needed for others, or the sender left. */
export type BodyFault = "too_long" | "no_memory" | "gone";

/**
 * Reads bodies into a bounded memory. When it is full, the longest of the arriving bodies is given up: a genuine
 * delivery is short, so it is never the one.
 */
export class BodyReader {
  readonly #arriving = new Set<Arriving>();
  #inAll = 0;

  read(request: IncomingMessage): Promise<Buffer | BodyFault> {
    if (Number(request.headers["content-length"] ?? 0) > longestBody) return Promise.resolve("too_long");
    return new Promise((resolve) => {
      let chunks: Buffer[] = [];
      const body: Arriving = { bytes: 0, giveUp: () => settle("no_memory") };
      this.#arriving.add(body);
      const onData = (chunk: Buffer) => {
        chunks.push(chunk);
        body.bytes += chunk.length;
        this.#inAll += chunk.length;
        if (body.bytes > longestBody) settle("too_long");
        else if (this.#inAll > mostInAll) this.#longest().giveUp();
      };
      const onEnd = () => settle(Buffer.concat(chunks));
      const onClose = () => settle("gone");
      const settle = (result: Buffer | BodyFault) => {
        if (!this.#arriving.delete(body)) return;
        this.#inAll -= body.bytes;
        chunks = [];
        request.off("data", onData).off("end", onEnd).off("close", onClose);
        resolve(result);
      };
      request.on("data", onData).on("end", onEnd).on("close", onClose);
      // A cut connection is an error of the request; it closes as well.
      request.on("error", () => {});
    });
  }

  #longest(): Arriving {
    let longest: Arriving | undefined;
    for (const one of this.#arriving) if (longest === undefined || one.bytes > longest.bytes) longest = one;
    return longest!;
  }
}
