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
 * Downloads that continue: after a break the rest is asked for with `Range`, and with `If-Range`, so that the bytes of two
 * versions never end up in one file. Without a strong validator, and whenever a response does not fit what is kept, the
 * download starts over. The rules of `downloader` hold: no credentials, no redirects.
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

/** How an attempt ended that did not fail. */
type Ended = "complete" | "stale";

class OneDownload {
  readonly #options: DownloaderOptions;
  readonly #download: ResumableDownload & { limits: Limits };
  readonly #target: DownloadTarget;
  readonly #whole: LinkedAbort;
  /** The bytes that the target has, and the version that they belong to. */
  #bytes: number;
  #version: FileVersion;
  /** Every byte that came, also those of a version that was dropped. */
  #received = 0;
  /** How long the server asked to wait after the last failure. */
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

  /** One request for what is missing, and its body. */
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

  /** Judges the head of a response: where its body ends at the latest, or null where it does not fit what is kept. */
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
    if (encoding !== "identity") throw this.#notAFile(url, response, `compressed (${encoding}), unasked`);
    this.#checkType(url, response);
    if (statusCode === 200) {
      await this.#begin(url, response);
      return Math.min(this.#download.limits.maxBytes, this.#version.total ?? Number.POSITIVE_INFINITY);
    }
    if (asked === null) throw this.#notAFile(url, response, "with status 206, unasked");
    const range = contentRangeOf(response);
    const validator = validatorOf(response);
    const isNext = range?.start === asked.from && range.total === (this.#version.total ?? range.total);
    const isSame = validator?.header === asked.validator.header && validator.value === asked.validator.value;
    if (range === null || !isNext || !isSame) return null;
    this.#version = { validator, total: range.total };
    return Math.min(range.end, this.#download.limits.maxBytes);
  }

  async #begin(url: URL, response: Dispatcher.ResponseData): Promise<void> {
    const { expected, isComplete, limits } = this.#download;
    const announced = contentLengthOf(response);
    if (expected?.bytes !== undefined && announced !== null && announced !== expected.bytes) {
      throw this.#bad(
        url,
        response,
        `has ${announced} bytes, not the ${expected.bytes} expected`,
        "wrong_length",
      );
    }
    const total = announced ?? expected?.bytes ?? null;
    // A body without a length ends normally wherever the connection is cut.
    if (total === null && isComplete === undefined) {
      throw this.#bad(
        url,
        response,
        "has no known length, so that a cut would not be seen",
        "unknown_length",
      );
    }
    if (total !== null && total > limits.maxBytes) {
      throw this.#bad(
        url,
        response,
        `is larger than the ${limits.maxBytes} bytes allowed`,
        "answer_too_large",
      );
    }
    this.#version = { validator: validatorOf(response), total };
    this.#bytes = 0;
    await this.#target.begin(this.#version);
  }

  async #read(url: URL, chunks: BodyChunks, upTo: number, link: LinkedAbort): Promise<void> {
    const { silenceMs } = this.#download.limits;
    const silence = new Silence(this.#options.clock, silenceMs, () => link.abort(silent(url, silenceMs)));
    try {
      for (let came = await chunks.take(); came !== null; came = await chunks.take()) {
        // Time that the disk takes is not the server's.
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

  /** Hands a chunk on; a promise only where the target asks to wait. */
  #give(url: URL, chunk: Uint8Array, upTo: number): Promise<void> | undefined {
    this.#received += chunk.length;
    if (this.#bytes + chunk.length > upTo) {
      throw new BadAnswerError(
        `${nameOfUrl(url)} goes on after the ${upTo} bytes that were announced or allowed`,
        { code: "answer_too_large" },
      );
    }
    this.#bytes += chunk.length;
    return this.#target.write(chunk);
  }

  async #isComplete(): Promise<boolean> {
    const { total } = this.#version;
    return total === null ? (await this.#download.isComplete?.()) === true : this.#bytes === total;
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
    throw this.#bad(url, response, `is ${type === "" ? "of no type" : type}, not ${wanted}`, "wrong_type");
  }

  #notAFile(url: URL, response: Dispatcher.ResponseData, what: string): BadAnswerError {
    return this.#bad(url, response, `was answered ${what}`, "not_a_file");
  }

  #bad(url: URL, response: Dispatcher.ResponseData, what: string, code: string): BadAnswerError {
    response.body.on("error", () => {}).destroy();
    return new BadAnswerError(`${nameOfUrl(url)} ${what}`, { code, status: response.statusCode });
  }

  async #wait(url: URL, reason: WaitReason, failures: number): Promise<void> {
    const { clock, random, retry, onWait } = this.#options;
    const { backoff, windowMs } = { ...defaultRetryPolicy, ...retry };
    const ms = Math.max(backoffMs(backoff, failures, random), Math.min(this.#askedMs ?? 0, windowMs));
    onWait?.({ reason, ms, method: "GET", path: maskedPath(url.pathname + url.search) });
    await clock.sleep(ms, this.#whole.signal);
  }

  /** Ends the download when it is slower than the slowest link: a drip would never end by itself. */
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
      const message = `the download was not complete after ${seconds} s (${this.#bytes} bytes had come)`;
      this.#whole.abort(new TimeoutError(message, { code: "deadline" }));
    };
    cancel = clock.at(begun + totalMs, check);
    return () => cancel();
  }
}

/** Why another attempt may help; null where it will not. */
function reasonToRetry(error: unknown): WaitReason | null {
  if (error instanceof TimeoutError) return "network";
  if (error instanceof NetworkError) return error.transient ? "network" : null;
  if (!(error instanceof BadAnswerError) || error.code !== "download_refused") return null;
  const { status = 0 } = error;
  if (status === 429) return "rate_limited";
  return status >= 500 ? "server_error" : null;
}

const cut = (url: URL): NetworkError =>
  new NetworkError(`${nameOfUrl(url)}: the connection was cut before the complete file had come`, {
    code: "connection_cut",
    transient: true,
  });
