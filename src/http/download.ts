import type { Download } from "./download-options.ts";
import { BadResponseError } from "./errors.ts";
import type { ResponseStream } from "./response-stream.ts";
import {
  type DownloaderOptions,
  nameOfUrl,
  refusedError,
  rejectCompressed,
  signedGet,
  toSignedUrl,
  waitToRetry,
} from "./signed-get.ts";

/**
 * Fetches signed URLs without the API key: the signature in the URL is the only permission. Follows no
 * redirect. The stream ends normally only after all announced bytes (undici counts them). Opening is retried
 * after a failure; a broken stream is not, because its bytes cannot be taken back.
 */
export function downloader(options: DownloaderOptions): Download {
  return async function* download(text, { signal, maxBytes = Number.POSITIVE_INFINITY, attempts } = {}) {
    const url = toSignedUrl(text, options);
    const response = await open(url, signal, attempts);
    try {
      rejectCompressed(url, response);
      const { status } = response;
      const bad = (what: string, code: string) =>
        new BadResponseError(`${nameOfUrl(url)} ${what}`, { code, status });
      if (status !== 200) throw bad(`responded with status ${status}`, "not_a_file");
      let bytes = 0;
      for await (const chunks of response) {
        for (const chunk of chunks) {
          bytes += chunk.length;
          if (bytes > maxBytes) throw bad(`exceeds the limit of ${maxBytes} bytes`, "answer_too_large");
          yield chunk;
        }
      }
    } finally {
      // Also if the reader stops early.
      response.close();
    }
  };

  async function open(
    url: URL,
    signal: AbortSignal | undefined,
    attempts: number | undefined,
  ): Promise<ResponseStream> {
    for (let failures = 1; ; failures++) {
      let response: ResponseStream | null = null;
      try {
        response = await signedGet(options, url, { signal, attempt: failures });
        if (response.status < 300) return response;
        response.close();
        throw refusedError(url, response);
      } catch (error) {
        signal?.throwIfAborted();
        await waitToRetry(options, { url, error, response, failures, attempts, signal });
      }
    }
  }
}
