import type { Dispatcher } from "undici";
import { fileProblem } from "../errors.ts";
import { withoutEnd } from "../text.ts";
import { BadResponseError, NetworkError } from "./errors.ts";
import type { HttpProxy } from "./proxies.ts";
import { type Message, requestName } from "./send.ts";

const cut = new Set([
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "UND_ERR_SOCKET",
  "UND_ERR_RES_CONTENT_LENGTH_MISMATCH",
  // The parser's error when the connection ends in the middle of a chunked body.
  "HPE_INVALID_EOF_STATE",
  "UND_ERR_BODY_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
]);

type About = Pick<Message, "method" | "path" | "origin" | "headers">;

/** An error of undici or Node as a CatalogueError; null if it is not a network failure. */
export function networkFailure(thrown: unknown, request: About): NetworkError | BadResponseError | null {
  if (!(thrown instanceof Error)) return null;
  const cause = thrown instanceof ProxyFailure || thrown instanceof TransportFailure ? thrown.cause : thrown;
  const code = String((cause as NodeJS.ErrnoException).code ?? "");
  const { origin } = request;
  const what = requestName(request);
  const requestId = request.headers["x-request-id"];
  const network = (sentence: string, name: string, transient: boolean, hint?: string) =>
    new NetworkError(`${sentence} (${what})`, { code: name, transient, cause, hint, requestId });

  if (code === "UND_ERR_DESTROYED" || code === "UND_ERR_CLOSED") {
    const detail = { code: "client_closed", transient: false, cause, requestId };
    const closed = thrown instanceof TransportFailure ? `${thrown.transport} of the client` : "client";
    return new NetworkError(`${what}: the ${closed} is closed`, detail);
  }
  if (thrown instanceof ProxyFailure) {
    const problem = proxyProblem(thrown, origin);
    if (problem !== null) return network(...problem);
  }
  const hint = "Check the address of the service (base URL) and your network.";
  const fault = fileProblem(cause);
  // Other files and connections of this process close meanwhile.
  if (fault?.kind === "limit" || fault?.kind === "memory")
    return network(`cannot connect to ${origin}: ${fault.why}`, "too_many_open_files", true, fault.hint);
  if (code in unreachable) {
    return network(`cannot connect to ${origin}: ${unreachable[code]}`, "unreachable", true, hint);
  }
  if (unknownHost.has(code)) {
    return network(`cannot connect to ${origin}: ${lookupPhrase(cause)}`, "host_not_found", true, hint);
  }
  const through = thrown instanceof ProxyFailure ? `, through the proxy ${thrown.proxy.shown}` : "";
  // A chunked body without its end, on a connection that was to close after it.
  const isCutChunked = cause.name === "HTTPParserError" && cause.message.includes("Invalid EOF state");
  if (cut.has(code) || isCutChunked) {
    const sentence = `${origin} closed the connection before the response was complete${through}`;
    return network(sentence, "connection_cut", true);
  }
  if (code === "UND_ERR_HEADERS_OVERFLOW" || cause.name === "HTTPParserError") {
    const message = `${origin} sent a response that is not HTTP${through} (${what})`;
    return new BadResponseError(message, { code: "not_http", cause, requestId });
  }
  const certificate = certificateProblem(code, origin);
  if (certificate === null && thrown instanceof TransportFailure) {
    const sentence = `cannot send to ${origin}: the ${thrown.transport} of the client failed: ${thrown.message}`;
    return network(sentence, "transport_failed", thrown.isTransient);
  }
  if (certificate === null) return null;
  const sentence = `cannot connect securely to ${origin}${through}: ${certificate.why}`;
  return network(sentence, "tls", false, certificate.hint);
}

/** Why TLS failed, by the code of OpenSSL; the other codes are shown as they are. */
const reasons: Readonly<Record<string, readonly [why: string, hint: (host: string) => string]>> = {
  CERT_HAS_EXPIRED: [
    "its certificate has expired",
    (host) => `Check the date of this machine; if it is right, ${host} needs a new certificate.`,
  ],
  CERT_NOT_YET_VALID: ["its certificate is not valid yet", () => "Check the date of this machine."],
  ERR_TLS_CERT_ALTNAME_INVALID: ["its certificate is for another host", () => "Check the base URL."],
};

/** Certificates that no known authority signed. */
const untrusted =
  /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_GET_ISSUER_CERT(?:_LOCALLY)?|UNABLE_TO_VERIFY_LEAF_SIGNATURE)$/;

/** Whether no authority that Node knows signed the certificate. */
export const isUntrusted = (code: string): boolean => untrusted.test(code);

/** A TLS failure with `origin` in words, and the next step; null for another code. */
export function certificateProblem(code: unknown, origin: string): { why: string; hint: string } | null {
  if (typeof code !== "string") return null;
  const [known, hintFor] = reasons[code] ?? [];
  if (known !== undefined && hintFor !== undefined) {
    return { why: `${known}, ${code}`, hint: hintFor(new URL(origin).hostname) };
  }
  if (isUntrusted(code)) {
    return {
      why: `its certificate is not trusted, ${code}`,
      hint: "If your network or service has its own certificate authority, set NODE_EXTRA_CA_CERTS to its PEM file.",
    };
  }
  if (code === "EPROTO" || code.startsWith("ERR_SSL")) {
    return { why: code, hint: "Check the port of the base URL." };
  }
  if (!/CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO_|ISSUER|CRL/.test(code)) return null;
  return { why: code, hint: "To trust your own certificate authority, set NODE_EXTRA_CA_CERTS." };
}

/** An error of undici or Node on the way through a proxy; `code` is that of the cause. */
export class ProxyFailure extends Error {
  override readonly name = "ProxyFailure";

  constructor(
    readonly proxy: HttpProxy,
    override readonly cause: Error,
  ) {
    super(cause.message, { cause });
  }

  /** The status with which the proxy rejected the connection; null if it did not. */
  get status(): number | null {
    const match = /^Proxy (?:response|Authentication Required) \((\d+)\)/.exec(this.message);
    return match === null ? null : Number(match[1]);
  }
}

/** An error of the transport that the caller has given, whatever it threw. */
export class TransportFailure extends Error {
  override readonly name = "TransportFailure";
  override readonly cause: Error;

  constructor(
    readonly transport: "fetch" | "dispatcher",
    thrown: unknown,
  ) {
    // Not by its class: test runners have contexts of their own.
    const isError = typeof (thrown as Partial<Error> | null | undefined)?.message === "string";
    const cause = isError ? (thrown as Error) : new Error(shown(thrown), { cause: thrown });
    // "fetch failed" alone does not say why.
    const { message: why } = (cause.cause ?? {}) as { message?: unknown };
    const message = typeof why === "string" && isError ? `${cause.message}: ${why}` : cause.message;
    super(withoutEnd(message, /[.\s]/) || cause.name, { cause });
    this.cause = cause;
  }

  /** Fetch reports a failure of the network as a TypeError. */
  get isTransient(): boolean {
    return this.cause.name === "TypeError";
  }
}

/** A value that is no error, in an error. */
function shown(thrown: unknown): string {
  if (typeof thrown === "string") return thrown.slice(0, 200);
  return typeof thrown === "object" && thrown !== null
    ? "an object was thrown"
    : `${String(thrown)} was thrown`;
}

/** Names the proxy in every error of a dispatcher. A handler gets nothing after its error. */
export const namingProxy =
  (proxy: HttpProxy): Dispatcher.DispatcherComposeInterceptor =>
  (dispatch) =>
  (options, handler) => {
    let isOver = false;
    const fail = (controller: Dispatcher.DispatchController, error: Error) => {
      if (isOver) return;
      isOver = true;
      handler.onResponseError?.(controller, new ProxyFailure(proxy, error));
    };
    return dispatch(options, {
      onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
      onRequestUpgrade: (...args) => handler.onRequestUpgrade?.(...args),
      onResponseStart: (controller, status, headers, message) => {
        if (!isOver) handler.onResponseStart?.(controller, status, headers, message);
      },
      onResponseData: (controller, chunk) => {
        if (!isOver) handler.onResponseData?.(controller, chunk);
      },
      onResponseEnd: (controller, trailers) => {
        if (!isOver) handler.onResponseEnd?.(controller, trailers);
      },
      onResponseError: fail,
    });
  };

/**
 * A failure of the proxy itself: sentence, code, whether it is temporary, and the next step; null if the
 * failure is that of the service behind it. Never shows a password.
 */
export function proxyProblem(
  { proxy, status, cause }: ProxyFailure,
  origin: string,
): [sentence: string, code: string, transient: boolean, hint: string] | null {
  const { shown, variable, url } = proxy;
  const code = (cause as NodeJS.ErrnoException).code ?? "";
  if (status === 407) {
    const [does, hint] =
      url.username === ""
        ? ["requires a", `Set ${variable} to ${url.protocol}//USER:PASSWORD@${url.host}.`]
        : ["rejected the", `Check the user name and password in ${variable}.`];
    return [`the proxy ${shown} ${does} user name and password`, "proxy_refused", false, hint];
  }
  if (status !== null) {
    const hint = `Check the base URL, or add ${new URL(origin).hostname} to NO_PROXY to connect without the proxy.`;
    const sentence = `the proxy ${shown} rejected the connection to ${origin} with status ${status}`;
    return [sentence, "proxy_refused", status >= 500, hint];
  }
  // Only the proxy itself is looked up and connected to: it connects to the service.
  const hint = `Check ${variable} and your network.`;
  const isBehindProxy = code === "UND_ERR_CONNECT_TIMEOUT" && origin.startsWith("https:");
  if (code in unreachable && !isBehindProxy) {
    return [`cannot connect to the proxy ${shown}: ${unreachable[code]}`, "proxy_unreachable", true, hint];
  }
  if (unknownHost.has(code)) {
    const sentence = `cannot connect to the proxy ${shown}: ${lookupPhrase(cause)}`;
    return [sentence, "proxy_unreachable", isLookupDelayed(cause), hint];
  }
  // The wrong scheme of the proxy; the service's own certificate comes later, with other codes.
  if (url.protocol === "https:" && (code === "EPROTO" || code.startsWith("ERR_SSL"))) {
    const sentence = `cannot connect securely to the proxy ${shown}: ${code}`;
    const toTry = `Check ${variable}; most proxies need http://, not https://.`;
    return [sentence, "proxy_unreachable", false, toTry];
  }
  if (code === "UND_ERR_PRX_TLS") {
    const sentence = `cannot connect securely to the proxy ${shown}: its certificate is for another host`;
    return [sentence, "proxy_unreachable", false, `Check the host in ${variable}.`];
  }
  return null;
}

/** Why no connection was made, by the code of the system or of undici. */
export const unreachable: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  EACCES: "a firewall of this machine does not allow it",
  EHOSTUNREACH: "no route to the host",
  ENETUNREACH: "this machine has no network",
  ENETDOWN: "this machine has no network",
  EADDRNOTAVAIL: "no route to the host",
  ETIMEDOUT: "connection timed out",
  UND_ERR_CONNECT_TIMEOUT: "connection timed out",
};

export const unknownHost: ReadonlySet<string> = new Set(["ENOTFOUND", "EAI_AGAIN"]);

/** Whether the name server did not respond, which says nothing about the name: another lookup may succeed. */
export const isLookupDelayed = (cause: unknown): boolean =>
  (cause as NodeJS.ErrnoException | undefined)?.code === "EAI_AGAIN";

const lookupPhrase = (cause: Error): string =>
  isLookupDelayed(cause) ? "the name server does not respond, or no network" : "unknown host, or no network";
