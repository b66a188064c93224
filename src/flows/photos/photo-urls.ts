// Checks the photos behind URLs before anything is sent: the service fetches them only later
// (--check-photos).

import { setMaxListeners } from "node:events";
import pLimit, { type LimitFunction } from "p-limit";
import type { Clock } from "../../clock.ts";
import { parseUrl, urlBreach } from "../../contract/url-policy.ts";
import { NetworkError } from "../../http/errors.ts";
import type { OutsideExchange } from "../../http/outside-exchange.ts";
import type { ProgressEvent } from "../progress-event.ts";
import type { KnownUrls } from "./known-urls.ts";
import {
  failedWith,
  failureOfUrl,
  judgeHead,
  type ReceivedResponse,
  toReceived,
  UrlFailure,
  type UrlVerdict,
} from "./url-verdict.ts";

/** Requests in flight, and milliseconds between two to a host: other shops use the same servers. */
const requestsAtOnce = 16;
const betweenMs = 500;
/** The part of a photo that is read, in bytes: type, size in pixels and a web page show there. */
const headBytes = 64 * 1024;
const mostRedirects = 5;
/** Attempts of a request that a busy server rejects or cuts off, and the longest wait between them in ms. */
const attempts = 3;
const longestWaitMs = 60_000;
/** The longest time for what is read of a photo, in milliseconds: a server may send a byte now and then. */
const longestReadMs = 60_000;

/** A server, as far as it was asked. */
interface Host {
  /** The checks of its photos: one ends before many more begin, so that an interrupt loses little. */
  readonly inTurn: LimitFunction;
  /** When the next request may begin. */
  free: number;
  /** The last response of a server that stays busy: it is asked no more. */
  busy: ReceivedResponse | null;
}

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
  readonly #hosts = new Map<string, Host>();
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

  /** Rejects with an interrupt's reason; resolves to null for a URL that the check of its row rejects. */
  check(url: string): Promise<UrlVerdict> | null {
    const known = this.#verdicts.get(url);
    if (known !== undefined) return known;
    if (this.#isStopped || urlBreach(url) !== null) return null;
    const checking = this.#host(parseUrl(url)!)
      .inTurn(() => this.#check(url))
      .then((verdict) => {
        this.#found.set(url, verdict);
        this.#done++;
        this.#report();
        return verdict;
      });
    this.#verdicts.set(url, checking);
    this.#report();
    return checking;
  }

  found(url: string): UrlVerdict | undefined {
    return this.#found.get(url);
  }

  #host({ host }: URL): Host {
    let known = this.#hosts.get(host);
    if (known === undefined) {
      known = { inTurn: pLimit(requestsAtOnce), free: 0, busy: null };
      this.#hosts.set(host, known);
    }
    return known;
  }

  #report(): void {
    const total = this.#verdicts.size;
    this.onProgress({ step: "checking photos at their URLs", done: this.#done, total, isEstimate: true });
  }

  async #check(text: string): Promise<UrlVerdict> {
    const { known, signal } = this.#options;
    try {
      // Some servers reject HEAD, or do not respond to it, and send the photo.
      const head = await this.#request("HEAD", text).catch((error: unknown) => {
        if (error instanceof UrlFailure) throw error;
        return null;
      });
      signal.throwIfAborted();
      const isKnown = head !== null && head.status < 300 && head.etag !== null;
      const earlier = isKnown ? known.find(text, head.etag!) : null;
      if (earlier !== null) return earlier;
      const got = await this.#request("GET", text);
      if (got.status !== 200 && got.status !== 206) return failedWith(got.status);
      // A server may send less than was asked for.
      const isShort = got.length === null ? got.bytes.length < headBytes : got.bytes.length === got.length;
      const isWhole = isShort && !got.wasCompressed;
      const length = got.length ?? (head !== null && head.status < 300 ? head.length : null);
      const verdict = await judgeHead(got.bytes, length, isWhole);
      if (got.etag !== null) known.add(text, got.etag, verdict);
      return verdict;
    } catch (error) {
      signal.throwIfAborted();
      return failureOfUrl(error);
    }
  }

  /** Follows redirects under the same policy, and repeats a GET that a busy server rejects or cuts off. */
  async #request(method: "HEAD" | "GET", text: string): Promise<ReceivedResponse> {
    const { clock, signal } = this.#options;
    let url = parseUrl(text)!;
    for (let redirects = 0, attempt = 1; ; ) {
      const host = this.#host(url);
      if (host.busy !== null) return host.busy;
      const mayRepeat = method === "GET" && attempt < attempts;
      const received = await this.#send(method, url, attempt).catch((error: unknown) => {
        if (mayRepeat && error instanceof NetworkError && error.code === "connection_cut") return cutOff;
        throw error;
      });
      const target = redirectTarget(received, url);
      if (target !== null) {
        if (++redirects > mostRedirects) throw new UrlFailure("http_error", "redirects without an end");
        url = target;
        continue;
      }
      const { status, retryMs } = received;
      const isBusy = asksToWait(received);
      const waitMs = Math.min(retryMs ?? 1000 * attempt, longestWaitMs);
      if (isBusy) host.free = Math.max(host.free, clock.now() + waitMs);
      if (!mayRepeat || !(isBusy || status >= 500)) {
        if (isBusy && method === "GET") host.busy = received;
        return received;
      }
      if (!isBusy) await clock.sleep(waitMs, signal);
      attempt++;
    }
  }

  /** Waits for the turn of a request: a server may have asked to wait meanwhile. */
  async #untilFree(host: Host): Promise<void> {
    const { clock, signal } = this.#options;
    for (let now = clock.now(); host.free > now; now = clock.now())
      await clock.sleep(host.free - now, signal);
    host.free = clock.now() + betweenMs;
  }

  async #send(method: "HEAD" | "GET", url: URL, attempt: number): Promise<ReceivedResponse> {
    const { clock, signal, userAgent, send } = this.#options;
    await this.#untilFree(this.#host(url));
    return this.#inTurn(async () => {
      signal.throwIfAborted();
      const begun = clock.now();
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
            if (clock.now() - begun > longestReadMs) throw new UrlFailure("timeout", "is sent too slowly");
          }
        }
        return toReceived(response, Buffer.concat(chunks).subarray(0, headBytes));
      } finally {
        response.close();
      }
    });
  }
}

const asksToWait = ({ status, retryMs }: ReceivedResponse): boolean =>
  status === 429 || (status >= 500 && retryMs !== null);

/** A response that was cut off, as one of a server that fails. */
const cutOff = toReceived({ status: 500, headers: {} }, Buffer.alloc(0));

/** Where a redirect leads; null for another response. Throws UrlFailure for a host that is not fetched. */
function redirectTarget({ status, location }: ReceivedResponse, url: URL): URL | null {
  const target = status >= 301 && status <= 308 && location !== null ? toTarget(location, url) : null;
  if (target === null || urlBreach(target.href) === null) return target;
  const why = `redirects to ${target.origin}, which the service does not fetch from`;
  throw new UrlFailure("blocked_host", why);
}

function toTarget(location: string, from: URL): URL | null {
  try {
    return new URL(location, from);
  } catch {
    return null;
  }
}
