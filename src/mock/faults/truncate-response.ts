import type { ServerResponse } from "node:http";

type Callback = (error?: Error | null) => void;

/**
 * Truncates a response after `length` bytes of its body: the headers announce the full length, then the
 * connection closes. A response with a shorter body, or without one, is sent unchanged.
 */
export function truncateResponse(response: ServerResponse, length: number): void {
  // A response to HEAD has no body to truncate.
  if (response.req.method === "HEAD") return;
  const write = response.write.bind(response) as (chunk: Uint8Array, callback: Callback) => boolean;
  const end = response.end.bind(response) as (chunk?: Uint8Array, callback?: Callback) => ServerResponse;
  let left = length;
  let isCut = false;

  /** Writes the last bytes allowed, then closes the connection. */
  const lastPart = (bytes: Uint8Array) => {
    isCut = true;
    write(bytes.subarray(0, left), () => response.destroy());
  };
  const overwritten = {
    write(chunk: string | Uint8Array, ...more: unknown[]): boolean {
      const bytes = bytesOf(chunk);
      // Always false: a stream piped into the response stops, and gets its "close" event.
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
