import type { ServerResponse } from "node:http";

type Callback = (error?: Error | null) => void;

/**
 * Has an answer break off after `length` bytes of its body, whoever writes it: the headers announce the whole, then the
 * connection ends. An answer that is no longer than that, or that has no body, goes out whole.
 */
export function cutAnswer(response: ServerResponse, length: number): void {
  // There is no body to cut.
  if (response.req.method === "HEAD") return;
  const write = response.write.bind(response) as (chunk: Uint8Array, callback: Callback) => boolean;
  const end = response.end.bind(response) as (chunk?: Uint8Array, callback?: Callback) => ServerResponse;
  let left = length;
  let isCut = false;

  /** Writes the part that still goes out, and cuts the connection once it has left. */
  const lastPart = (bytes: Uint8Array) => {
    isCut = true;
    write(bytes.subarray(0, left), () => response.destroy());
  };
  const overwritten = {
    write(chunk: string | Uint8Array, ...more: unknown[]): boolean {
      const bytes = bytesOf(chunk);
      // False for ever: whoever pipes into it stops, and is told when it closes.
      if (isCut) return false;
      if (bytes.length > left) {
        lastPart(bytes);
        return false;
      }
      left -= bytes.length;
      return write(bytes, callbackOf(more));
    },
    end(chunk?: unknown, ...more: unknown[]): ServerResponse {
      if (isCut) return response;
      const callback = callbackOf([chunk, ...more]);
      if (typeof chunk !== "string" && !(chunk instanceof Uint8Array)) return end(undefined, callback);
      const bytes = bytesOf(chunk);
      if (bytes.length <= left) return end(bytes, callback);
      lastPart(bytes);
      return response;
    },
  };
  Object.assign(response, overwritten);
}

const bytesOf = (chunk: string | Uint8Array): Uint8Array =>
  typeof chunk === "string" ? Buffer.from(chunk) : chunk;

const callbackOf = (more: readonly unknown[]): Callback =>
  (more.find((one) => typeof one === "function") as Callback | undefined) ?? (() => {});
