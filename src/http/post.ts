import type { Clock } from "../clock.ts";
import type { Connections } from "./connections.ts";
import {
  certificateProblem,
  isUntrusted,
  ProxyFailure,
  proxyProblem,
  unreachable,
} from "./network-failure.ts";
import { openStream } from "./response-stream.ts";
import { linkedAbort } from "./time-limits.ts";

export interface Post {
  readonly url: URL;
  /** Names and values, in order. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The bytes, or a body that is sent piece by piece. */
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
  /** The maximum duration until the response is complete, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** The response to a POST, or a phrase that says why none came. */
export type PostOutcome =
  | { readonly status: number; readonly text: string; readonly ms: number }
  | {
      readonly status: null;
      readonly why: string;
      readonly failure: PostFailure;
      readonly ms: number;
      /** The next step, where one is known. */
      readonly hint?: string;
    };

/** Why no response came: the time was up, the receiver closed the connection, or it could not be reached. */
export type PostFailure = "timeout" | "closed" | "unreachable";

/** The part of a response that is kept, in bytes. */
const keptBytes = 64 * 1024;

/** A POST without key, retry or redirect. Any status is an outcome; only the caller's signal rejects. */
export const poster =
  ({ connections, clock }: { connections: Connections; clock: Clock }) =>
  async ({ url, headers, body, timeoutMs, signal }: Post): Promise<PostOutcome> => {
    const dispatcher = await connections.forOrigin(url.origin);
    const link = linkedAbort(signal);
    const begun = clock.now();
    const late = `no response within ${timeoutMs / 1000} s`;
    let isLate = false;
    const cancel = clock.at(begun + timeoutMs, () => {
      isLate = true;
      void connections.retire(url.origin, dispatcher);
      link.abort(new Error(late));
    });
    const took = () => clock.now() - begun;
    try {
      const path = url.pathname + url.search;
      const request = { origin: url.origin, path, method: "POST" as const, headers: headers.flat() };
      const sent = { ...request, body: body as Uint8Array };
      const response = openStream(dispatcher, sent, { signal: link.signal });
      await response.head();
      let kept = Buffer.alloc(0);
      for await (const chunks of response) {
        if (kept.length < keptBytes) kept = Buffer.concat([kept, ...chunks]).subarray(0, keptBytes);
      }
      return { status: response.status, text: kept.toString("utf8"), ms: took() };
    } catch (error) {
      signal?.throwIfAborted();
      const { why, hint } = failurePhrase(error, url.origin);
      const failure = isLate ? "timeout" : why === closed ? "closed" : "unreachable";
      return { status: null, why, failure, ms: took(), ...(hint !== undefined && { hint }) };
    } finally {
      cancel();
      link.release();
    }
  };

const closed = "connection closed without a response";
const notTls = "it does not use TLS; try http:// instead of https://";
const phrases: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ENOTFOUND: "unknown host",
  EAI_AGAIN: "unknown host",
  ECONNRESET: closed,
  UND_ERR_SOCKET: closed,
  EPIPE: closed,
  ERR_SSL_WRONG_VERSION_NUMBER: notTls,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: notTls,
  UND_ERR_HEADERS_OVERFLOW: "the headers of its response are too long",
};

/** The certificate is that of the receiver, for which Node has to know its authority. */
const trustHint =
  "Set NODE_EXTRA_CA_CERTS to the PEM file of the authority that signed the handler's certificate.";

function failurePhrase(error: unknown, origin: string): { why: string; hint?: string } {
  const ofProxy = error instanceof ProxyFailure ? proxyProblem(error, origin) : null;
  if (ofProxy !== null) return { why: ofProxy[0] };
  const { code = "", message } = (
    error instanceof ProxyFailure ? error.cause : error
  ) as NodeJS.ErrnoException;
  if (isUntrusted(code)) return { why: `its certificate is not trusted, ${code}`, hint: trustHint };
  const ofTls = unreachable[code] === undefined ? certificateProblem(code, origin) : null;
  return { why: phrases[code] ?? ofTls?.why ?? (code === "" ? message : `${code}: ${message}`) };
}
