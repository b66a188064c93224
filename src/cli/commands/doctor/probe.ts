import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { TLSSocket } from "node:tls";
import type { ApiError } from "../../../client/api-error.ts";
import { createClient } from "../../../client/client.ts";
import { CatError } from "../../../errors.ts";
import { BadAnswerError } from "../../../http/errors.ts";
import { linkedAbort } from "../../../http/time-limits.ts";
import { serverNow } from "../../../http/waits.ts";
import type { App } from "../../app/app.ts";
import { version } from "../../context/version.ts";

/** The time for both requests, in milliseconds. */
const limitMs = 5_000;

/** A response, as far as the checks need it. */
export interface Probed {
  readonly ms: number;
  readonly error: ApiError | BadAnswerError | null;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The lead of the service's clock over the local one, in milliseconds; null without a `Date`. */
  readonly aheadMs: number | null;
}

/** The results of the requests. */
export interface Probe {
  /** `GET /v1/products`, or the error without a response. */
  readonly products: Probed | CatError;
  /** `GET /v1/exports`; null if it was not sent, because the first request failed. */
  readonly exports: Probed | CatError | null;
  /** The protocol and the end of the certificate, of a TLS connection. */
  readonly tls: { readonly protocol: string; readonly validTo: string } | null;
}

/** Stands in for a missing key: the service rejects it, which still shows the network. */
const noKey = "ak_none";

/** At most two reads within five seconds, without retries. `apiKey` null: one request, which the service rejects. */
export async function probe(app: App, baseUrl: string, apiKey: string | null): Promise<Probe> {
  const { clock, random, env, interrupt } = app.context;
  const client = createClient({
    ...{ baseUrl, apiKey: apiKey ?? noKey, clock, random, env, userAgent: `catalogue/${version}` },
    retry: { attempts: 1, rateLimited: 1, rateLimitedMs: 0 },
    timeLimits: { totalMs: limitMs },
  });
  const link = linkedAbort(interrupt);
  const late = new CatError(`no response from ${new URL(baseUrl).origin} within ${limitMs / 1000} s`, {
    type: "timeout",
    code: "attempt_timeout",
  });
  const cancel = clock.at(clock.now() + limitMs, () => link.abort(late));
  const tls = watchTls();
  const read = async (path: string): Promise<Probed | CatError> => {
    const begun = clock.now();
    try {
      const response = await client.raw({ method: "GET", path, body: null }, { signal: link.signal });
      const { headers } = response;
      const error = response.error ?? notJson(response);
      const there = serverNow({ headers });
      const aheadMs = there === null ? null : there - clock.now();
      return { ms: clock.now() - begun, error, headers, aheadMs };
    } catch (error) {
      interrupt.throwIfAborted();
      if (error instanceof CatError) return error;
      throw error;
    }
  };
  try {
    const products = await read("/v1/products?limit=1");
    const isUsable =
      !(products instanceof CatError) &&
      (products.error === null || products.error.code === "insufficient_scope");
    const exports = isUsable && apiKey !== null ? await read("/v1/exports?limit=1") : null;
    return { products, exports, tls: tls.found() };
  } finally {
    tls.stop();
    cancel();
    link.release();
    await client.close();
  }
}

/** Remembers the last TLS connection of the HTTP library. */
function watchTls() {
  let found: Probe["tls"] = null;
  const listener = (message: unknown) => {
    const { socket } = message as { socket: Partial<TLSSocket> };
    const validTo = socket.getPeerCertificate?.().valid_to;
    if (validTo !== undefined) found = { protocol: socket.getProtocol?.() ?? "TLS", validTo };
  };
  subscribe("undici:client:connected", listener);
  return { found: () => found, stop: () => unsubscribe("undici:client:connected", listener) };
}

/** The error for a successful response that is not JSON, such as the login page of a network; null for JSON. */
function notJson(response: { json(): unknown }): BadAnswerError | null {
  try {
    response.json();
    return null;
  } catch (error) {
    if (error instanceof BadAnswerError) return error;
    throw error;
  }
}
