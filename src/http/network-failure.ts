import { BadAnswerError, NetworkError } from "./errors.ts";
import { ProxyFailure, proxyProblem, unknownHost, unreachable } from "./proxy-failure.ts";
import { type Message, nameOf } from "./send.ts";

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

/** The parts of a request that its errors show. */
type About = Pick<Message, "method" | "path" | "origin" | "headers">;

/** An error of undici or Node as a CatError; null if it is not a network failure. */
export function networkFailure(thrown: unknown, request: About): NetworkError | BadAnswerError | null {
  if (!(thrown instanceof Error)) return null;
  const cause = thrown instanceof ProxyFailure ? thrown.cause : thrown;
  const code = (cause as NodeJS.ErrnoException).code ?? "";
  const { origin } = request;
  const what = nameOf(request);
  const requestId = request.headers["x-request-id"];
  const network = (sentence: string, name: string, transient: boolean, hint?: string) =>
    new NetworkError(`${sentence} (${what})`, { code: name, transient, cause, hint, requestId });

  if (code === "UND_ERR_DESTROYED" || code === "UND_ERR_CLOSED") {
    const detail = { code: "client_closed", transient: false, cause, requestId };
    return new NetworkError(`${what}: the client is closed`, detail);
  }
  if (thrown instanceof ProxyFailure) {
    const problem = proxyProblem(thrown, origin);
    if (problem !== null) return network(...problem);
  }
  const hint = "Check the address of the service (base URL) and your network.";
  if (code in unreachable) {
    return network(`cannot connect to ${origin}: ${unreachable[code]}`, "unreachable", true, hint);
  }
  if (unknownHost.has(code)) {
    return network(`cannot connect to ${origin}: unknown host, or no network`, "host_not_found", true, hint);
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
    return new BadAnswerError(message, { code: "not_http", cause, requestId });
  }
  const certificate = certificateProblem(code, origin);
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

/** A failure of TLS with `origin` in words, and the next step; null if the code is not one of TLS. Some errors have a number. */
export function certificateProblem(code: unknown, origin: string): { why: string; hint: string } | null {
  if (typeof code !== "string") return null;
  const [known, hintFor] = reasons[code] ?? [];
  if (known !== undefined && hintFor !== undefined) {
    return { why: `${known}, ${code}`, hint: hintFor(new URL(origin).hostname) };
  }
  if (untrusted.test(code)) {
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
