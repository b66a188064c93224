import { existsSync } from "node:fs";
import { isLoopbackHost } from "../../../contract/url-policy.ts";
import { CatError } from "../../../errors.ts";
import { maskedKey } from "../../../http/mask.ts";
import { proxiesOf } from "../../../http/proxies.ts";
import { headerOf } from "../../../http/send.ts";
import type { App } from "../../app/app.ts";
import type { Sourced } from "../../settings/base-url.ts";
import { isSet } from "../../settings/profile-name.ts";
import { type CheckResult, failed, ok, skipped, warning } from "./check.ts";
import type { Probe, Probed } from "./probe.ts";

const noResponse = skipped("not checked: the service did not respond");

/** Failures that concern the proxy or TLS, which have checks of their own. */
const isOfProxy = (error: unknown) =>
  error instanceof CatError && /^(?:invalid_proxy|proxy_)/.test(error.code);
const isOfTls = (error: unknown) => error instanceof CatError && error.code === "tls";

export function checkKey(key: Sourced, { products, exports }: Probe): CheckResult {
  if (products instanceof CatError) return noResponse;
  const rejected = [products.error, exports instanceof CatError ? null : exports?.error].find(
    (error) => error?.status === 401 || (error?.status === 403 && error.code !== "insufficient_scope"),
  );
  if (rejected) return failed(rejected);
  const scopes = [
    ["products:read", products],
    ["exports:read", exports],
  ] as const;
  const hasScope = (probed: Probed | CatError | null) =>
    probed !== null && !(probed instanceof CatError) && probed.error === null;
  const lacksScope = (probed: Probed | CatError | null) =>
    probed !== null && !(probed instanceof CatError) && probed.error?.code === "insufficient_scope";
  const names = (test: typeof hasScope) => scopes.filter(([, probed]) => test(probed)).map(([name]) => name);
  const about = `${maskedKey(key.value)} from ${key.source}`;
  const lacking = names(lacksScope);
  if (lacking.length > 0) {
    return warning(
      `${about} is valid, but lacks ${lacking.join(" and ")}`,
      "Use a key with these scopes to import files again and to export. Other scopes were not checked.",
    );
  }
  const has = names(hasScope);
  if (has.length > 0) return ok(`${about}, with ${has.join(" and ")} (other scopes were not checked)`);
  return skipped("not checked: the service does not respond as expected");
}

export function checkNetwork(baseUrl: string, { products }: Probe): CheckResult {
  const { origin } = new URL(baseUrl);
  if (isOfProxy(products)) return skipped("not checked: the proxy fails");
  if (isOfTls(products)) return ok(`connected to ${origin}`);
  if (products instanceof CatError) return failed(products);
  const { error, ms } = products;
  if (error !== null && (error.type === "bad_answer" || error.status! >= 500)) return failed(error);
  return ok(`${origin} responded in ${Math.round(ms)} ms`);
}

/** The proxy for a base URL; `found` is the result of the request, if one was sent. */
export function checkProxy(
  { context: { env } }: App,
  baseUrl: string | null,
  found: Probe | null,
): CheckResult {
  const proxies = proxiesOf(env);
  if (proxies.all.length === 0) return ok("none set");
  if (baseUrl === null) return skipped("not checked: no service URL");
  const { hostname, origin } = new URL(baseUrl);
  if (isLoopbackHost(hostname)) return ok("not used for addresses on this machine");
  const proxy = proxies.find(origin);
  if (proxy === null)
    return ok(proxies.isExcluded(origin) ? `NO_PROXY excludes ${hostname}` : "none for this URL");
  if (isOfProxy(found?.products)) return failed(found!.products);
  return ok(`${proxy.shown} from ${proxy.variable}`);
}

/** The least time a certificate should still be valid: two weeks. */
const soonMs = 14 * 24 * 3_600_000;

export function checkTls({ context: { env, clock } }: App, baseUrl: string, found: Probe): CheckResult {
  const file = env.NODE_EXTRA_CA_CERTS;
  if (isSet(file) && !existsSync(file)) {
    const message = `NODE_EXTRA_CA_CERTS names a file that does not exist: ${file}`;
    const hint = "Correct the path, or unset it.";
    // Without its certificates the connection may fail, and the file is the first thing to fix.
    if (isOfTls(found.products))
      return failed(new CatError(message, { type: "network", code: "tls", hint, cause: found.products }));
    return warning(message, hint);
  }
  if (new URL(baseUrl).protocol === "http:") return ok("not used for addresses on this machine");
  if (isOfTls(found.products)) return failed(found.products);
  if (found.tls === null) return noResponse;
  const { protocol, validTo } = found.tls;
  const until = new Date(validTo);
  const about = `${protocol}, certificate valid until ${until.toISOString().slice(0, 10)}`;
  return until.getTime() - clock.now() < soonMs
    ? warning(about, "Ask the owner of the service for a new certificate.")
    : ok(about);
}

/** Signatures of webhooks and URLs depend on the time; a response takes some of it, too. */
const skewMs = 30_000;

export function checkClock({ products }: Probe): CheckResult {
  if (products instanceof CatError) return noResponse;
  const { aheadMs } = products;
  if (aheadMs === null) return skipped("not checked: the response has no Date header");
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  if (Math.abs(aheadMs) <= skewMs) return ok(`within ${Math.max(1, seconds)} s of the service`);
  return warning(
    `this machine is ${seconds} s ${aheadMs > 0 ? "behind" : "ahead of"} the service`,
    "Set the clock of this machine, for example by turning on network time.",
  );
}

export function checkRateLimit({ products, exports }: Probe): CheckResult {
  const last = exports === null || exports instanceof CatError ? products : exports;
  if (last instanceof CatError) return noResponse;
  const numberOf = (name: string) => {
    const text = headerOf(last, name);
    return text !== undefined && /^\d+$/.test(text) ? Number(text) : null;
  };
  const [left, limit] = [numberOf("x-ratelimit-remaining"), numberOf("x-ratelimit-limit")];
  if (left === null || limit === null) return ok("the service announces none");
  const about = `${left} of ${limit} reads left in this minute`;
  return left < limit / 10
    ? warning(about, "Wait a minute, or stop other programs that use the service.")
    : ok(about);
}
