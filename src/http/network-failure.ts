import { BadAnswerError, NetworkError } from "./errors.ts";
import { type Message, nameOf } from "./send.ts";

const unreachable: Record<string, string> = {
  ECONNREFUSED: "refused the connection",
  EHOSTUNREACH: "cannot be reached from here",
  ENETUNREACH: "cannot be reached: this machine has no network",
  ENETDOWN: "cannot be reached: this machine has no network",
  EADDRNOTAVAIL: "cannot be reached from here",
  ETIMEDOUT: "did not answer in time",
  UND_ERR_CONNECT_TIMEOUT: "did not answer in time",
};

const cut = new Set([
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "UND_ERR_SOCKET",
  "UND_ERR_RES_CONTENT_LENGTH_MISMATCH",
  // What the parser says when the connection ends in the middle of a chunked body.
  "HPE_INVALID_EOF_STATE",
  "UND_ERR_BODY_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
]);

/** What undici or Node threw for a request, as one of ours; null when it is not a failure of the network. */
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

  if (code in unreachable) {
    const hint = "Is the base URL right, and the network up?";
    return network(`${what}: ${origin} ${unreachable[code]}`, "unreachable", true, hint);
  }
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") {
    return network(
      `${what}: there is no host by the name of ${origin}, or no network`,
      "host_not_found",
      true,
    );
  }
  if (cut.has(code)) {
    return network(
      `${what}: ${origin} cut the connection before a whole answer had come`,
      "connection_cut",
      true,
    );
  }
  if (code === "UND_ERR_DESTROYED" || code === "UND_ERR_CLOSED") {
    return network(`${what}: the client is closed`, "client_closed", false);
  }
  if (cause.message.startsWith("Proxy response")) {
    const hint = "Check HTTPS_PROXY, and the user name and password in it.";
    return network(`${what}: the proxy refused to connect to ${origin}`, "proxy_refused", false, hint);
  }
  if (code === "UND_ERR_HEADERS_OVERFLOW" || cause.name === "HTTPParserError") {
    return new BadAnswerError(`${what}: ${origin} answered with something that is not HTTP`, {
      code: "not_http",
      cause,
      requestId,
    });
  }
  if (code === "EPROTO" || /CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO_|ISSUER|CRL/.test(code)) {
    const hint =
      code.startsWith("ERR_SSL") || code === "EPROTO"
        ? "Does the base URL name the right port?"
        : "A certificate authority of your own is given in NODE_EXTRA_CA_CERTS.";
    return network(`${what}: no safe connection to ${origin} (${code})`, "tls", false, hint);
  }
  return null;
}
