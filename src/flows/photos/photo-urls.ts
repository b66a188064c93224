// Checks the photos behind URLs before anything is sent: the service fetches them only later (--check-photos).

import { setMaxListeners } from "node:events";
import pLimit from "p-limit";
import type { Clock } from "../../clock.ts";
import { parseUrl, urlBreach } from "../../contract/url-policy.ts";
import type { OutsideExchange } from "../../http/outside-exchange.ts";
import type { ProgressEvent } from "../progress-event.ts";
import type { KnownUrls } from "./known-urls.ts";
import {
  failedWith,
  judgeHead,
  type Received,
  toFailure,
  toReceived,
  UrlFailure,
  type UrlVerdict,
} from "./url-verdict.ts";

/** Requests in flight, and the time between two to one host, in milliseconds: other shops use the same servers. */
const requestsAtOnce = 16;
const betweenMs = 500;
/** What is read of a photo, in bytes: type, size in pixels and a web page show there. */
const headBytes = 64 * 1024;
const mostRedirects = 5;
/** Attempts of a request that a busy server rejects, and the longest wait between them in milliseconds. */
const attempts = 3;
const longestWaitMs = 60_000;

interface PhotoUrlsOptions {
  readonly send: OutsideExchange;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly userAgent: string;
  readonly known: KnownUrls;
}

/** Checks each URL once, at most 16 at a time, and each host at most twice a second. */
export class PhotoUrls {
  readonly #options: PhotoUrlsOptions;
  readonly #inTurn = pLimit(requestsAtOnce);
  readonly #verdicts = new Map<string, Promise<UrlVerdict>>();
  readonly #found = new Map<string, UrlVerdict>();
  /** When the next request to a host may begin. */
  readonly #free = new Map<string, number>();
  #done = 0;
  #isStopped = false;
  onProgress: (event: ProgressEvent) => void = () => {};

  constructor(options: PhotoUrlsOptions) {
    this.#options = options;
    // Each request that waits listens for the interrupt.
    setMaxListeners(0, options.signal);
  }

  /** From now on, no URL is checked that was not yet. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Rejects with the reason of an interrupt. Resolves to null for a URL that the check of its row rejects. */
  check(url: string): Promise<UrlVerdict> | null {
    const known = this.#verdicts.get(url);
    if (known !== undefined) return known;
    if (this.#isStopped || urlBreach(url) !== null) return null;
    const checking = this.#check(url).then((verdict) => {
      this.#found.set(url, verdict);
      this.#done++;
      this.#report();
      return verdict;
    });
    this.#verdicts.set(url, checking);
    this.#report();
    return checking;
  }

  /** What a check has found so far. */
  found(url: string): UrlVerdict | undefined {
    return this.#found.get(url);
  }

  #report(): void {
    const total = this.#verdicts.size;
    this.onProgress({ step: "checking photos at their URLs", done: this.#done, total, isEstimate: true });
  }

  async #check(text: string): Promise<UrlVerdict> {
    const { known, signal } = this.#options;
    try {
      const head = await this.#request("HEAD", text);
      if (head.status === 404 || head.status === 410) return failedWith(head.status);
      const isKnown = head.status < 300 && head.etag !== null;
      const earlier = isKnown ? known.find(text, head.etag!) : null;
      if (earlier !== null) return earlier;
      // Some servers reject HEAD alone.
      const got = await this.#request("GET", text);
      if (got.status !== 200 && got.status !== 206) return failedWith(got.status);
      const length = got.length ?? (head.status < 300 ? head.length : null);
      const verdict = judgeHead(
        got.bytes,
        length,
        got.bytes.length < headBytes || got.bytes.length === length,
      );
      if (got.etag !== null) known.add(text, got.etag, verdict);
      return verdict;
    } catch (error) {
      signal.throwIfAborted();
      return toFailure(error);
    }
  }

  /** Follows redirects under the same policy, and waits for a busy server. */
  async #request(method: "HEAD" | "GET", text: string): Promise<Received> {
    const { clock, signal } = this.#options;
    let url = parseUrl(text)!;
    for (let redirects = 0, attempt = 1; ; ) {
      const received = await this.#send(method, url, attempt);
      const { status, location } = received;
      const target = status >= 301 && status <= 308 && location !== null ? toTarget(location, url) : null;
      if (target !== null) {
        if (++redirects > mostRedirects) throw new UrlFailure("http_error", "redirects without an end");
        const breach = urlBreach(target.href);
        if (breach !== null)
          throw new UrlFailure(
            "blocked_host",
            `redirects to ${target.origin}, which the service does not fetch from`,
          );
        url = target;
      } else if ((status === 429 || status >= 500) && attempt < attempts) {
        await clock.sleep(Math.min(received.retryMs ?? 1000 * attempt, longestWaitMs), signal);
        attempt++;
      } else return received;
    }
  }

  async #send(method: "HEAD" | "GET", url: URL, attempt: number): Promise<Received> {
    const { clock, signal, userAgent, send } = this.#options;
    const now = clock.now();
    const start = Math.max(now, this.#free.get(url.host) ?? now);
    this.#free.set(url.host, start + betweenMs);
    if (start > now) await clock.sleep(start - now, signal);
    return this.#inTurn(async () => {
      signal.throwIfAborted();
      const response = await send({
        method,
        origin: url.origin,
        path: url.pathname + url.search,
        headers: {
          "user-agent": userAgent,
          accept: "image/*,*/*;q=0.5",
          "accept-encoding": "identity",
          ...(method === "GET" && { range: `bytes=0-${headBytes - 1}` }),
        },
        signal,
        attempt,
      });
      try {
        const chunks: Uint8Array[] = [];
        if (method === "GET" && response.status < 300) {
          let length = 0;
          for await (const arrived of response) {
            chunks.push(...arrived);
            length += arrived.reduce((sum, chunk) => sum + chunk.length, 0);
            if (length >= headBytes) break;
          }
        }
        return toReceived(response, Buffer.concat(chunks).subarray(0, headBytes));
      } finally {
        response.close();
      }
    });
  }
}

function toTarget(location: string, from: URL): URL | null {
  try {
    return new URL(location, from);
  } catch {
    return null;
  }
}
