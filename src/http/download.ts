import type {
  Download,
  DownloadInto,
  DownloadTarget,
  FileVersion,
  ResumableDownload,
} from "./download-options.ts";
import { BadResponseError, NetworkError, SignedUrlError, TimeoutError } from "./errors.ts";
import type { ResponseStream } from "./response-stream.ts";
import { readHeader } from "./send.ts";
import {
  type DownloaderOptions,
  nameOfUrl,
  rejectCompressed,
  rejectedError,
  signedGet,
  toSignedUrl,
  waitToRetry,
} from "./signed-get.ts";
import { linkedAbort } from "./time-limits.ts";
import { isTimeout, type Transfer, type TransferLimit } from "./transfer-limit.ts";

/**
 * Fetches signed URLs without the API key: the signature in the URL is the only permission. Follows no
 * redirect. The stream ends normally only after all announced bytes (undici counts them). Opening is retried
 * after a failure; a broken stream is not, because its bytes cannot be taken back.
 */
export function downloader(options: DownloaderOptions): Download {
  return async function* download(
    text,
    { signal, maxBytes = Number.POSITIVE_INFINITY, attempts, onLength } = {},
  ) {
    const url = toSignedUrl(text, options);
    const response = await open(url, signal, attempts);
    try {
      rejectCompressed(url, response);
      const { status } = response;
      const bad = (what: string, code: string) =>
        new BadResponseError(`${nameOfUrl(url)} ${what}`, { code, status });
      if (status !== 200) throw bad(`responded with status ${status}`, "not_a_file");
      const length = readHeader(response, "content-length");
      onLength?.(length === undefined ? null : Number(length));
      let bytes = 0;
      for await (const chunks of response) {
        for (const chunk of chunks) {
          bytes += chunk.length;
          if (bytes > maxBytes) throw bad(`exceeds the limit of ${maxBytes} bytes`, "response_too_large");
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
        throw rejectedError(url, response);
      } catch (error) {
        signal?.throwIfAborted();
        await waitToRetry(options, { url, error, response, failures, attempts, signal });
      }
    }
  }
}

const defaultTotalMs = 300_000;
/** The slowest link on which a download must finish, in bytes per millisecond. */
const slowest = 32;
/** The maximum number of consecutive fresh URLs without a new byte. */
const mostFreshUrls = 3;

interface ResumableOptions extends DownloaderOptions {
  /** How many of these downloads run at once. */
  readonly transfers: TransferLimit;
}

const noVersion: FileVersion = { etag: null, total: null };

/**
 * Downloads that can resume: after a break the rest is requested with `Range` and `If-Range`, so that bytes
 * of two versions never end up in one file. Without a strong ETag, or if a response does not fit the bytes
 * kept, the download starts over. The rules of `downloader` apply: no credentials, no redirects.
 */
export const resumableDownloader =
  (options: ResumableOptions): DownloadInto =>
  async (target, download) => {
    const link = linkedAbort(download.signal);
    const running = new RunningDownload(options, { ...download, signal: link.signal }, target);
    const stop = running.startDeadline((error) => link.abort(error));
    try {
      return await running.run();
    } finally {
      stop();
      link.release();
    }
  };

class RunningDownload {
  readonly #maxBytes: number;
  readonly #had: number;
  /** The version of the bytes that the target has. */
  #version: FileVersion;
  /** The number of bytes that the target has. */
  bytes: number;
  /** All bytes received, including those of a dropped version. */
  #received = 0;
  /** The time limit counts from here. */
  #begun: number;
  /** When it joined the queue for its attempt. */
  #queuedAt: number | null = null;
  #attempt: { readonly transfer: Transfer; response: ResponseStream | null } | null = null;

  constructor(
    private readonly options: ResumableOptions,
    private readonly download: ResumableDownload & { signal: AbortSignal },
    private readonly target: DownloadTarget,
  ) {
    this.#maxBytes = download.limits?.maxBytes ?? Number.POSITIVE_INFINITY;
    this.#version = target.kept ?? noVersion;
    this.bytes = target.kept?.bytes ?? 0;
    this.#had = this.bytes;
    this.#begun = options.clock.now();
  }

  /** Resolves to the length of the complete file. */
  async run(): Promise<number> {
    const { signal, freshUrl, limits } = this.download;
    let url = toSignedUrl(this.download.url, this.options);
    let failures = 0;
    let refreshed = 0;
    let furthest = this.bytes;
    for (let attempt = 1; ; attempt++) {
      signal.throwIfAborted();
      let response: ResponseStream | null = null;
      let isShared = false;
      try {
        const isComplete = await this.#inTurn(async (transfer) => {
          try {
            response = await this.#request(url, attempt);
            return await this.#receive(url, response);
          } catch (error) {
            isShared = isTimeout(error) && transfer.most > 1;
            throw error;
          } finally {
            response?.close();
          }
        });
        if (isComplete) return this.bytes;
      } catch (error) {
        signal.throwIfAborted();
        if (this.bytes > furthest) [furthest, failures, refreshed] = [this.bytes, 0, 0];
        if (error instanceof SignedUrlError && freshUrl !== undefined && refreshed++ < mostFreshUrls) {
          const fresh = toSignedUrl(await freshUrl(), this.options);
          // Another file may have the same ETag and length.
          if (nameOfUrl(fresh) !== nameOfUrl(url)) this.#version = noVersion;
          url = fresh;
          continue;
        }
        // After a timeout of several downloads, the next attempt shares the line with half as many: this
        // ends.
        if (isShared) this.#begun = this.options.clock.now();
        else failures++;
        const attempts = limits?.attempts;
        await waitToRetry(this.options, {
          ...{ url, error, response, failures: Math.max(1, failures), attempts, signal },
        });
      }
    }
  }

  /** Does an attempt when there is room for it; the time until then does not count. */
  async #inTurn<Result>(work: (transfer: Transfer) => Promise<Result>): Promise<Result> {
    const { clock, transfers } = this.options;
    const { signal } = this.download;
    this.#queuedAt = clock.now();
    const count = () => {
      this.#begun += this.#queuedMs;
      this.#queuedAt = null;
    };
    try {
      return await transfers.run(signal, async (transfer) => {
        count();
        this.#attempt = { transfer, response: null };
        try {
          return await work(transfer);
        } finally {
          this.#attempt = null;
        }
      });
    } finally {
      count();
    }
  }

  get #queuedMs(): number {
    return this.#queuedAt === null ? 0 : this.options.clock.now() - this.#queuedAt;
  }

  /** Ends a download below the slowest rate; only its attempt if others slow it down. Returns its stop. */
  startDeadline(abort: (error: TimeoutError) => void): () => void {
    const { clock } = this.options;
    const totalMs = this.download.limits?.totalMs ?? defaultTotalMs;
    const end = () => {
      const expectedBytes = Math.max(this.#received, (this.#version.total ?? 0) - this.#had);
      return this.#begun + this.#queuedMs + totalMs + Math.ceil(expectedBytes / slowest);
    };
    const check = () => {
      if (clock.now() < end()) {
        cancel = clock.at(end(), check);
        return;
      }
      const seconds = Math.round((clock.now() - this.#begun) / 1000);
      const message = `the download was not complete after ${seconds} s (${this.bytes} bytes received)`;
      const error = new TimeoutError(message, { code: "deadline" });
      if (this.#attempt === null || this.#attempt.transfer.most === 1) return abort(error);
      this.#attempt.response?.fail(error);
      this.#begun = clock.now();
      cancel = clock.at(end(), check);
    };
    let cancel = clock.at(this.#begun + totalMs, check);
    return () => cancel();
  }

  /** The first byte to request: the rest can be requested only of a known version. */
  get #from(): number {
    return this.#version.etag === null ? 0 : this.bytes;
  }

  #request(url: URL, attempt: number): Promise<ResponseStream> {
    const { etag } = this.#version;
    const headers =
      etag === null || this.#from === 0 ? {} : { range: `bytes=${this.#from}-`, "if-range": etag };
    const onOpen = (response: ResponseStream) => {
      this.#attempt!.response = response;
    };
    return signedGet(this.options, url, { signal: this.download.signal, attempt, headers, onOpen });
  }

  /** Reads a response; false if it does not fit the bytes kept, so that the download starts over. */
  async #receive(url: URL, response: ResponseStream): Promise<boolean> {
    const end = await this.#open(url, response);
    if (end === null) {
      this.#version = noVersion;
      return false;
    }
    for await (const chunks of response) {
      const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
      this.#received += length;
      if (this.bytes + length > this.#maxBytes) throw this.#tooLarge(url);
      if (this.bytes + length > end) {
        const message = `${nameOfUrl(url)} is longer than the ${end} bytes announced`;
        throw new BadResponseError(message, { code: "response_too_large" });
      }
      this.bytes += length;
      await this.target.write(chunks);
    }
    const { total } = this.#version;
    if (total === null || this.bytes === total) return true;
    throw new NetworkError(`${nameOfUrl(url)}: the connection was closed before the file was complete`, {
      code: "connection_cut",
      transient: true,
    });
  }

  /** The end that the body of a response may have; null if its head does not fit the bytes kept. */
  async #open(url: URL, response: ResponseStream): Promise<number | null> {
    const { status } = response;
    const from = this.#from;
    if (status === 416 && from > 0) return null;
    if (status >= 300) throw rejectedError(url, response);
    rejectCompressed(url, response);
    if (status !== 200 && (status !== 206 || from === 0))
      throw this.#bad(url, `responded with an unrequested status ${status}`, "not_a_file");
    this.#checkType(url, response);
    if (status === 200) {
      await this.#begin(url, response);
      return this.#version.total ?? Number.POSITIVE_INFINITY;
    }
    const range = parseContentRange(response);
    const { etag, total } = this.#version;
    const fits = range?.start === from && range.total === (total ?? range.total);
    if (range === null || !fits || strongEtag(response) !== etag) return null;
    this.#version = { etag, total: range.total };
    return range.end;
  }

  async #begin(url: URL, response: ResponseStream): Promise<void> {
    const length = readHeader(response, "content-length") ?? "";
    const total = /^\d{1,15}$/.test(length) ? Number(length) : null;
    // Other bodies without a length end normally wherever the connection is cut.
    if (total === null && readHeader(response, "transfer-encoding")?.trim().toLowerCase() !== "chunked") {
      const what = "has no known length, so an incomplete file would not be noticed";
      throw this.#bad(url, what, "unknown_length");
    }
    if (total !== null && total > this.#maxBytes) throw this.#tooLarge(url);
    this.#version = { etag: strongEtag(response), total };
    this.bytes = 0;
    await this.target.begin(this.#version);
  }

  #checkType(url: URL, response: ResponseStream): void {
    const wanted = this.download.type;
    if (wanted === undefined) return;
    const type = (readHeader(response, "content-type") ?? "").split(";")[0]!.trim().toLowerCase();
    if (type === wanted.toLowerCase()) return;
    const what = type === "" ? "no content type" : `the content type ${type}`;
    throw this.#bad(url, `has ${what}, not ${wanted}`, "wrong_type");
  }

  #tooLarge(url: URL): BadResponseError {
    const bytes = this.#maxBytes;
    const text = bytes % 1_000_000 === 0 ? `${bytes / 1_000_000} MB` : `${bytes} bytes`;
    return this.#bad(url, `is larger than ${text}`, "file_too_large");
  }

  #bad(url: URL, what: string, code: string): BadResponseError {
    return new BadResponseError(`${nameOfUrl(url)} ${what}`, { code });
  }
}

/** The ETag that identifies one version exactly, as allowed in `If-Range` (RFC 9110, 13.1.5). */
function strongEtag(response: ResponseStream): string | null {
  const etag = readHeader(response, "etag") ?? "";
  return /^"[\x21\x23-\x7e\x80-\xff]*"$/.test(etag) ? etag : null;
}

/** The range of a 206, from `start` to `end` (exclusive); null if the header is missing or invalid. */
function parseContentRange(response: ResponseStream): { start: number; end: number; total: number } | null {
  const header = readHeader(response, "content-range") ?? "";
  const [, first, last, length] = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/i.exec(header) ?? [];
  if (first === undefined) return null;
  const range = { start: Number(first), end: Number(last) + 1, total: Number(length) };
  return range.start < range.end && range.end <= range.total ? range : null;
}
