import { BadAnswerError, NetworkError } from "./errors.ts";
import { ProxyFailure } from "./proxy-failure.ts";
import { proxyProblem } from "./proxy-problem.ts";
import { type Message, nameOf } from "./send.ts";
import { certificateProblem } from "./tls-failure.ts";
import { unknownHost, unreachable } from "./unreachable.ts";

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
    return new NetworkError(`${what}: the client is closed`, {
      ...{ code: "client_closed", transient: false, cause, requestId },
    });
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
    return network(
      `${origin} closed the connection before the response was complete${through}`,
      "connection_cut",
      true,
    );
  }
  if (code === "UND_ERR_HEADERS_OVERFLOW" || cause.name === "HTTPParserError") {
    return new BadAnswerError(`${origin} sent a response that is not HTTP${through} (${what})`, {
      code: "not_http",
      cause,
      requestId,
    });
  }
  const certificate = certificateProblem(code, origin);
  return certificate === null
    ? null
    : network(
        `cannot connect securely to ${origin}${through}: ${certificate.why}`,
        "tls",
        false,
        certificate.hint,
      );
}
