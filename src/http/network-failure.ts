import { BadAnswerError, NetworkError } from "./errors.ts";
import { type Message, nameOf } from "./send.ts";

const unreachable: Record<string, string> = {
  ECONNREFUSED: "connection refused",
  EHOSTUNREACH: "no route to the host",
  ENETUNREACH: "this machine has no network",
  ENETDOWN: "this machine has no network",
  EADDRNOTAVAIL: "no route to the host",
  ETIMEDOUT: "connection timed out",
  UND_ERR_CONNECT_TIMEOUT: "connection timed out",
};

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

/** An error of undici or Node as a CatError; null if it is not a network failure. */
export function networkFailure(
  cause: unknown,
  request: Pick<Message, "method" | "path" | "origin" | "headers">,
): NetworkError | BadAnswerError | null {
  if (!(cause instanceof Error)) return null;
  const code = (cause as NodeJS.ErrnoException).code ?? "";
  const { origin } = request;
  const what = nameOf(request);
  const requestId = request.headers["x-request-id"];
  const network = (sentence: string, name: string, transient: boolean, hint?: string) =>
    new NetworkError(sentence, { code: name, transient, cause, hint, requestId });

  const hint = "Check the address of the service (base URL) and your network.";
  if (code in unreachable) {
    return network(`cannot connect to ${origin}: ${unreachable[code]} (${what})`, "unreachable", true, hint);
  }
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") {
    return network(
      `cannot connect to ${origin}: unknown host, or no network (${what})`,
      "host_not_found",
      true,
      hint,
    );
  }
  // A chunked body without its end, on a connection that was to close after it.
  const isCutChunked = cause.name === "HTTPParserError" && cause.message.includes("Invalid EOF state");
  if (cut.has(code) || isCutChunked) {
    return network(
      `${origin} closed the connection before the response was complete (${what})`,
      "connection_cut",
      true,
    );
  }
  if (code === "UND_ERR_DESTROYED" || code === "UND_ERR_CLOSED") {
    return network(`${what}: the client is closed`, "client_closed", false);
  }
  if (cause.message.startsWith("Proxy response")) {
    const hint = "Check HTTPS_PROXY, including its user name and password.";
    return network(`the proxy rejected the connection to ${origin} (${what})`, "proxy_refused", false, hint);
  }
  if (code === "UND_ERR_HEADERS_OVERFLOW" || cause.name === "HTTPParserError") {
    return new BadAnswerError(`${origin} sent a response that is not HTTP (${what})`, {
      code: "not_http",
      cause,
      requestId,
    });
  }
  if (code === "EPROTO" || /CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO_|ISSUER|CRL/.test(code)) {
    const hint =
      code.startsWith("ERR_SSL") || code === "EPROTO"
        ? "Check the port of the base URL."
        : "To trust your own certificate authority, set NODE_EXTRA_CA_CERTS.";
    return network(`cannot connect securely to ${origin}: ${code} (${what})`, "tls", false, hint);
  }
  return null;
}
