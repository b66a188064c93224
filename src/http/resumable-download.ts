import type { Dispatcher } from "undici";
import { backoffMs } from "./backoff.ts";
import { BodyChunks } from "./body-chunks.ts";
import type { DownloaderOptions } from "./download.ts";
import { failure, nameOfUrl, parsedUrl, refused } from "./download-outcome.ts";
import type { DownloadInto, DownloadLimits, DownloadTarget, ResumableDownload } from "./download-target.ts";
import { BadAnswerError, NetworkError, SignedUrlError, TimeoutError } from "./errors.ts";
import {
  contentLengthOf,
  contentRangeOf,
  endsVisibly,
  type FileVersion,
  type Validator,
  validatorOf,
} from "./file-version.ts";
import { type LinkedAbort, linkedAbort } from "./linked-abort.ts";
import { maskedPath } from "./mask.ts";
import { defaultRetryPolicy } from "./retry.ts";
import { retryAfterMs } from "./retry-after.ts";
import { headerOf } from "./send.ts";
import { signedGet, silent } from "./signed-get.ts";
import { Silence } from "./silence.ts";
import type { WaitReason } from "./wait.ts";

/**
 * Downloads that can resume: after a break the rest is requested with `Range` and `If-Range`, so that bytes
 * of two versions never end up in one file. Without a strong validator, or if a response does not fit the
 * bytes kept, the download starts over. The rules of `downloader` apply: no credentials, no redirects.
 */
export function resumableDownloader(options: DownloaderOptions): DownloadInto {
  const policy = { ...defaultRetryPolicy, ...options.retry };
  return async (target, download) => {
    const { totalMs, slowest, silenceMs, attempts, freshUrls, maxBytes } = download.limits ?? {};
    const limits = {
      totalMs: totalMs ?? 300_000,
      slowest: slowest ?? 32,
      silenceMs: silenceMs ?? options.silenceMs,
      attempts: attempts ?? policy.attempts,
      freshUrls: freshUrls ?? 3,
      maxBytes: maxBytes ?? Number.POSITIVE_INFINITY,
    };
    const one = new OneDownload(options, { ...download, limits }, target);
    return one.run();
  };
}

type Limits = { readonly [Name in keyof Required<DownloadLimits>]: number };

/** The outcome of an attempt that did not fail. */
type Ended = "complete" | "stale";

class OneDownload {
  readonly #options: DownloaderOptions;
  readonly #download: ResumableDownload & { limits: Limits };
  readonly #target: DownloadTarget;
  readonly #whole: LinkedAbort;
  /** The number of bytes the target has, and their version. */
  #bytes: number;
  #version: FileVersion;
  /** Whether the current response shows the end of a body without a length. */
  #endsVisibly = false;
  /** All bytes received, including those of a dropped version. */
  #received = 0;
  /** The wait that the server asked for after the last failure. */
  #askedMs: number | null = null;

  constructor(
    options: DownloaderOptions,
    download: ResumableDownload & { limits: Limits },
    target: DownloadTarget,
  ) {
    this.#options = options;
    this.#download = download;
    this.#target = target;
    this.#whole = linkedAbort(download.signal);
    const { bytes } = download.expected ?? {};
    const isOther = bytes !== undefined && target.kept?.total !== bytes;
    const kept = isOther ? null : target.kept;
    this.#bytes = kept?.bytes ?? 0;
    this.#version = kept ?? { validator: null, total: null };
  }

  async run(): Promise<number> {
    const stop = this.#startDeadline();
    try {
      await this.#attempts();
      return this.#bytes;
    } finally {
      stop();
      this.#whole.abort(new Error("the download is over"));
      this.#whole.release();
    }
  }

  async #attempts(): Promise<void> {
    const { signal } = this.#whole;
    const { attempts, freshUrls } = this.#download.limits;
    let url = this.#checked(this.#download.url);
    let failures = 0;
    let refreshed = 0;
    let furthest = this.#bytes;
    for (let attempt = 1; ; attempt++) {
      signal.throwIfAborted();
      try {
        const ended = await this.#attempt(url, attempt);
        if (ended === "complete") return;
      } catch (error) {
        signal.throwIfAborted();
        if (this.#bytes > furthest) [furthest, failures, refreshed] = [this.#bytes, 0, 0];
        const { freshUrl } = this.#download;
        if (error instanceof SignedUrlError && freshUrl !== undefined && refreshed++ < freshUrls) {
          const fresh = this.#checked(await freshUrl());
          // Another file may have the same ETag and length.
          if (nameOfUrl(fresh) !== nameOfUrl(url)) this.#version = { validator: null, total: null };
          url = fresh;
          continue;
        }
        const reason = reasonToRetry(error);
        if (reason === null || ++failures >= attempts) throw error;
        await this.#wait(url, reason, failures);
      }
    }
  }

  /** One request for the missing bytes, and its body. */
  async #attempt(url: URL, attempt: number): Promise<Ended> {
    this.#askedMs = null;
    const { validator } = this.#version;
    const from = validator === null ? 0 : this.#bytes;
    const asked = from > 0 && validator !== null ? { from, validator } : null;
    const link = linkedAbort(this.#whole.signal);
    try {
      const get = signedGet({ ...this.#options, silenceMs: this.#download.limits.silenceMs });
      const headers = asked === null ? {} : { range: `bytes=${from}-`, "if-range": asked.validator.value };
      const response = await get(url, { signal: link.signal, attempt, headers });
      const chunks = response.statusCode < 300 ? new BodyChunks(response.body) : null;
      link.signal.addEventListener("abort", () => response.body.destroy(), { once: true });
      const upTo = await this.#open(url, response, asked);
      if (upTo === null) {
        this.#version = { validator: null, total: null };
        return "stale";
      }
      await this.#read(url, chunks!, upTo, link);
      if (await this.#isComplete()) return "complete";
      throw cut(url);
    } finally {
      link.abort(new Error("the attempt is over"));
      link.release();
    }
  }

  /** Checks the head of a response: returns the maximum end of its body, or null if it does not fit the bytes kept. */
  async #open(
    url: URL,
    response: Dispatcher.ResponseData,
    asked: { from: number; validator: Validator } | null,
  ): Promise<number | null> {
    const { statusCode } = response;
    if (statusCode === 416 && asked !== null) return null;
    if (statusCode >= 300 || (statusCode !== 200 && statusCode !== 206)) {
      this.#askedMs = retryAfterMs(response, this.#options.clock.now());
      throw refused(url, response);
    }
    const encoding = headerOf(response, "content-encoding") ?? "identity";
    if (encoding !== "identity")
      throw this.#notAFile(url, response, `an unrequested compression (${encoding})`);
    this.#checkType(url, response);
    if (statusCode === 200) {
      await this.#begin(url, response);
      return this.#version.total ?? Number.POSITIVE_INFINITY;
    }
    if (asked === null) throw this.#notAFile(url, response, "an unrequested status 206");
    const range = contentRangeOf(response);
    const validator = validatorOf(response);
    const isNext = range?.start === asked.from && range.total === (this.#version.total ?? range.total);
    const isSame = validator?.header === asked.validator.header && validator.value === asked.validator.value;
    if (range === null || !isNext || !isSame) return null;
    this.#version = { validator, total: range.total };
    return range.end;
  }

  async #begin(url: URL, response: Dispatcher.ResponseData): Promise<void> {
    const { expected, isComplete, limits } = this.#download;
    const announced = contentLengthOf(response);
    if (expected?.bytes !== undefined && announced !== null && announced !== expected.bytes) {
      throw this.#bad(
        url,
        response,
        `has ${announced} bytes instead of the expected ${expected.bytes}`,
        "wrong_length",
      );
    }
    const total = announced ?? expected?.bytes ?? null;
    this.#endsVisibly = endsVisibly(response);
    // Other bodies without a length end normally wherever the connection is cut.
    if (total === null && isComplete === undefined && !this.#endsVisibly) {
      throw this.#bad(
        url,
        response,
        "has no known length, so an incomplete file would not be noticed",
        "unknown_length",
      );
    }
    if (total !== null && total > limits.maxBytes) throw this.#tooLarge(url, response);
    this.#version = { validator: validatorOf(response), total };
    this.#bytes = 0;
    await this.#target.begin(this.#version);
  }

  async #read(url: URL, chunks: BodyChunks, upTo: number, link: LinkedAbort): Promise<void> {
    const { silenceMs } = this.#download.limits;
    const silence = new Silence(this.#options.clock, silenceMs, () => link.abort(silent(url, silenceMs)));
    try {
      for (let came = await chunks.take(); came !== null; came = await chunks.take()) {
        // The time to write to disk is not the server's silence.
        silence.hold();
        for (const chunk of came) {
          const full = this.#give(url, chunk, upTo);
          if (full !== undefined) await full;
        }
        link.signal.throwIfAborted();
        silence.ended();
      }
    } catch (error) {
      link.signal.throwIfAborted();
      throw failure(url, error);
    } finally {
      silence.stop();
    }
  }

  /** Passes a chunk on; returns a promise only if the target asks to wait. */
  #give(url: URL, chunk: Uint8Array, upTo: number): Promise<void> | undefined {
    this.#received += chunk.length;
    if (this.#bytes + chunk.length > this.#download.limits.maxBytes) throw this.#tooLarge(url);
    if (this.#bytes + chunk.length > upTo) {
      throw new BadAnswerError(`${nameOfUrl(url)} is longer than the ${upTo} bytes announced`, {
        code: "answer_too_large",
      });
    }
    this.#bytes += chunk.length;
    return this.#target.write(chunk);
  }

  async #isComplete(): Promise<boolean> {
    const { total } = this.#version;
    if (total !== null) return this.#bytes === total;
    const { isComplete } = this.#download;
    return isComplete === undefined ? this.#endsVisibly : isComplete();
  }

  #checked(text: string): URL {
    const url = parsedUrl(text);
    this.#options.check(url);
    return url;
  }

  #checkType(url: URL, response: Dispatcher.ResponseData): void {
    const wanted = this.#download.expected?.type;
    if (wanted === undefined) return;
    const type = (headerOf(response, "content-type") ?? "").split(";")[0]!.trim().toLowerCase();
    if (type === wanted.toLowerCase()) return;
    throw this.#bad(
      url,
      response,
      `has ${type === "" ? "no content type" : `the content type ${type}`}, not ${wanted}`,
      "wrong_type",
    );
  }

  #notAFile(url: URL, response: Dispatcher.ResponseData, what: string): BadAnswerError {
    return this.#bad(url, response, `responded with ${what}`, "not_a_file");
  }

  #tooLarge(url: URL, response?: Dispatcher.ResponseData): BadAnswerError {
    const { maxBytes } = this.#download.limits;
    const text = maxBytes % 1_000_000 === 0 ? `${maxBytes / 1_000_000} MB` : `${maxBytes} bytes`;
    return this.#bad(url, response, `is larger than ${text}`, "file_too_large");
  }

  #bad(url: URL, response: Dispatcher.ResponseData | undefined, what: string, code: string): BadAnswerError {
    response?.body.on("error", () => {}).destroy();
    return new BadAnswerError(`${nameOfUrl(url)} ${what}`, { code, status: response?.statusCode });
  }

  async #wait(url: URL, reason: WaitReason, failures: number): Promise<void> {
    const { clock, random, retry, onWait } = this.#options;
    const { backoff, windowMs } = { ...defaultRetryPolicy, ...retry };
    const ms = Math.max(backoffMs(backoff, failures, random), Math.min(this.#askedMs ?? 0, windowMs));
    onWait?.({ reason, ms, method: "GET", path: maskedPath(url.pathname + url.search) });
    await clock.sleep(ms, this.#whole.signal);
  }

  /** Ends a download slower than the slowest link allowed: a dripping one would never end. */
  #startDeadline(): () => void {
    const { clock } = this.#options;
    const { totalMs, slowest } = this.#download.limits;
    const begun = clock.now();
    const had = this.#bytes;
    let cancel = () => {};
    const check = () => {
      const bytes = Math.max(this.#received, (this.#version.total ?? 0) - had);
      const end = begun + totalMs + Math.ceil(bytes / slowest);
      if (clock.now() < end) {
        cancel = clock.at(end, check);
        return;
      }
      const seconds = Math.round((clock.now() - begun) / 1000);
      const message = `the download was not complete after ${seconds} s (${this.#bytes} bytes received)`;
      this.#whole.abort(new TimeoutError(message, { code: "deadline" }));
    };
    cancel = clock.at(begun + totalMs, check);
    return () => cancel();
  }
}

/** The reason another attempt may help; null if it will not. */
function reasonToRetry(error: unknown): WaitReason | null {
  if (error instanceof TimeoutError) return "network";
  if (error instanceof NetworkError) return error.transient ? "network" : null;
  if (!(error instanceof BadAnswerError) || error.code !== "download_refused") return null;
  const { status = 0 } = error;
  if (status === 429) return "rate_limited";
  return status >= 500 ? "server_error" : null;
}

const cut = (url: URL): NetworkError =>
  new NetworkError(`${nameOfUrl(url)}: the connection was closed before the file was complete`, {
    code: "connection_cut",
    transient: true,
  });
