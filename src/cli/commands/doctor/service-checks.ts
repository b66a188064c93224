import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { TLSSocket } from "node:tls";
import { createClient } from "../../../client/client.ts";
import { isLoopbackHost } from "../../../contract/url-policy.ts";
import { CatError } from "../../../errors.ts";
import { BadResponseError } from "../../../http/errors.ts";
import { maskedKey } from "../../../http/mask.ts";
import { parseProxies } from "../../../http/proxies.ts";
import { serverNow } from "../../../http/retry.ts";
import { readHeader } from "../../../http/send.ts";
import { linkedAbort } from "../../../http/time-limits.ts";
import type { App } from "../../app/app.ts";
import { version } from "../../context/version.ts";
import { certificateFileProblem } from "../../settings/certificate-file.ts";
import { insecureHosts, insecureNote, type Sourced } from "../../settings/settings.ts";
import { type DoctorResult, failed, ok, unchecked, warning } from "./check.ts";

/** The time for both requests, in milliseconds. */
const limitMs = 5_000;

/** A request, as far as the checks need it. */
export interface Probed {
  readonly ms: number;
  /** The error of the service, or the network. */
  readonly error: CatError | null;
  readonly headers: Readonly<Record<string, string | string[] | undefined>> | null;
  /** The lead of the service's clock over the local one, in milliseconds; null without a `Date`. */
  readonly aheadMs: number | null;
}

export interface Probe {
  /** `GET /v1/products` */
  readonly products: Probed;
  /** `GET /v1/exports`; null if it was not sent, because the first request failed. */
  readonly exports: Probed | null;
  /** The protocol and the end of the certificate, of a TLS connection. */
  readonly tls: { readonly protocol: string; readonly validTo: string } | null;
}

/** Stands in for a missing key: the service rejects it, which still shows the network. */
const noKey = "ak_none";

/** At most two reads in five seconds, without retries. `apiKey` null: one request, which must be rejected. */
export async function probe(app: App, baseUrl: string, apiKey: string | null): Promise<Probe> {
  const { clock, random, env, interrupt } = app.context;
  const client = createClient({
    baseUrl,
    apiKey: apiKey ?? noKey,
    clock,
    random,
    env,
    userAgent: `catalogue/${version}`,
    insecureHttpHosts: [...insecureHosts(env)],
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
  const read = async (path: string): Promise<Probed> => {
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
      if (!(error instanceof CatError)) throw error;
      return { ms: clock.now() - begun, error, headers: null, aheadMs: null };
    }
  };
  try {
    const products = await read("/v1/products?limit=1");
    const isUsable = products.error === null || lacksScope(products);
    const exports = isUsable && apiKey !== null ? await read("/v1/exports?limit=1") : null;
    return { products, exports, tls: tls.found() };
  } finally {
    tls.stop();
    cancel();
    link.release();
    await client.close();
  }
}

function watchTls() {
  let tls: Probe["tls"] = null;
  const listener = (message: unknown) => {
    const { socket } = message as { socket: Partial<TLSSocket> };
    const validTo = socket.getPeerCertificate?.().valid_to;
    if (validTo !== undefined) tls = { protocol: socket.getProtocol?.() ?? "TLS", validTo };
  };
  subscribe("undici:client:connected", listener);
  return { found: () => tls, stop: () => unsubscribe("undici:client:connected", listener) };
}

/** The error for a success that is not JSON, such as the login page of a network; null for JSON. */
function notJson(response: { json(): unknown }): BadResponseError | null {
  try {
    response.json();
    return null;
  } catch (error) {
    if (error instanceof BadResponseError) return error;
    throw error;
  }
}

const noResponse = unchecked("the service did not respond");

const lacksScope = (probed: Probed | null) => probed?.error?.code === "insufficient_scope";
/** Failures that concern the proxy or TLS, which have checks of their own. */
const isOfProxy = ({ error }: Probed) => /^(?:invalid_proxy|proxy_)/.test(error?.code ?? "");
const isOfTls = ({ error }: Probed) => error?.code === "tls";

export function checkKey(key: Sourced, { products, exports }: Probe): DoctorResult {
  if (products.headers === null) return noResponse;
  const rejected = [products, exports].find(
    (probed) => probed?.error?.status === 401 || (probed?.error?.status === 403 && !lacksScope(probed)),
  );
  if (rejected) return failed(rejected.error);
  const scopes = [
    ["products:read", products],
    ["exports:read", exports],
  ] as const;
  const about = `${maskedKey(key.value)} from ${key.source}`;
  const lacking = scopes.filter(([, probed]) => lacksScope(probed)).map(([name]) => name);
  if (lacking.length > 0) {
    return warning(
      `${about} is valid, but lacks ${lacking.join(" and ")}`,
      "Use a key with these scopes to import files again and to export. Other scopes were not checked.",
    );
  }
  const has = scopes.filter(([, probed]) => probed?.error === null).map(([name]) => name);
  if (has.length > 0) return ok(`${about}, with ${has.join(" and ")} (other scopes were not checked)`);
  return unchecked("the service does not respond as expected");
}

export function checkNetwork(baseUrl: string, { products }: Probe): DoctorResult {
  const { origin } = new URL(baseUrl);
  const { error, headers, ms } = products;
  if (isOfProxy(products)) return unchecked("the proxy fails");
  if (isOfTls(products)) return ok(`connected to ${origin}`);
  if (error !== null && (headers === null || error.type === "bad_response" || error.status! >= 500))
    return failed(error);
  return ok(`${origin} responded in ${Math.round(ms)} ms`);
}

/** The proxy for a base URL; `found` is the result of the request, if one was sent. */
export function checkProxy(
  { context: { env } }: App,
  baseUrl: string | null,
  probe: Probe | null,
): DoctorResult {
  const proxies = parseProxies(env);
  if (proxies.all.length === 0) return ok("none set");
  if (baseUrl === null) return unchecked("no service URL");
  const { hostname, origin } = new URL(baseUrl);
  if (isLoopbackHost(hostname)) return ok("not used for addresses on this machine");
  if (insecureNote(baseUrl, env) !== null) return ok("not used for hosts of CAT_INSECURE_HTTP_HOSTS");
  const proxy = proxies.find(origin);
  if (proxy === null)
    return ok(proxies.isExcluded(origin) ? `NO_PROXY excludes ${hostname}` : "none for this URL");
  if (probe !== null && isOfProxy(probe.products)) return failed(probe.products.error);
  return ok(`${proxy.shown} from ${proxy.variable}`);
}

/** The least time a certificate should still be valid: two weeks. */
const soonMs = 14 * 24 * 3_600_000;

export function checkTls({ context: { env, clock } }: App, baseUrl: string, probe: Probe): DoctorResult {
  const file = certificateFileProblem(env);
  if (file !== null) {
    const { message, hint } = file;
    // Without its certificates the connection may fail, and the file is the first thing to fix.
    if (isOfTls(probe.products)) return failed(new CatError(message, { type: "network", code: "tls", hint }));
    return warning(message, hint);
  }
  const insecure = insecureNote(baseUrl, env);
  if (insecure !== null)
    return warning(
      insecure.replace(/\.$/, ""),
      "Do this only with a key of a mock. For any other service, use https://.",
    );
  if (new URL(baseUrl).protocol === "http:") return ok("not used for addresses on this machine");
  if (isOfTls(probe.products)) return failed(probe.products.error);
  if (probe.tls === null) return noResponse;
  const { protocol, validTo } = probe.tls;
  const until = new Date(validTo);
  const about = `${protocol}, certificate valid until ${until.toISOString().slice(0, 10)}`;
  return until.getTime() - clock.now() < soonMs
    ? warning(about, "Ask the owner of the service for a new certificate.")
    : ok(about);
}

/** Signatures of webhooks and URLs depend on the time; a response takes some of it, too. */
const skewMs = 30_000;

export function checkClock({ products: { headers, aheadMs } }: Probe): DoctorResult {
  if (headers === null) return noResponse;
  if (aheadMs === null) return unchecked("the response has no Date header");
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  if (Math.abs(aheadMs) <= skewMs) return ok(`within ${Math.max(1, seconds)} s of the service`);
  return warning(
    `this machine is ${seconds} s ${aheadMs > 0 ? "behind" : "ahead of"} the service`,
    "Set the clock of this machine, for example by turning on network time.",
  );
}

export function checkRateLimit({ products, exports }: Probe): DoctorResult {
  const headers = exports?.headers ?? products.headers;
  if (headers === null) return noResponse;
  const [remaining, limit] = ["x-ratelimit-remaining", "x-ratelimit-limit"].map((name) =>
    /^\d+$/.exec(readHeader({ headers }, name) ?? ""),
  );
  if (!remaining || !limit) return ok("the service announces none");
  const about = `${Number(remaining)} of ${Number(limit)} reads left in this minute`;
  return Number(remaining) < Number(limit) / 10
    ? warning(about, "Wait a minute, or stop other programs that use the service.")
    : ok(about);
}
