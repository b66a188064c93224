import type { Dispatcher } from "undici";
import type { HttpProxy } from "./proxies.ts";

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
    const found = /^Proxy (?:response|Authentication Required) \((\d+)\)/.exec(this.message);
    return found === null ? null : Number(found[1]);
  }
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
 * A failure of the proxy itself: sentence, code, whether it is temporary, and the next step; null if the failure is that
 * of the service behind it. Never shows a password.
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
  if (code in unreachable) {
    return [`cannot connect to the proxy ${shown}: ${unreachable[code]}`, "proxy_unreachable", true, hint];
  }
  if (unknownHost.has(code)) {
    const sentence = `cannot connect to the proxy ${shown}: unknown host, or no network`;
    return [sentence, "proxy_unreachable", false, hint];
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
  EHOSTUNREACH: "no route to the host",
  ENETUNREACH: "this machine has no network",
  ENETDOWN: "this machine has no network",
  EADDRNOTAVAIL: "no route to the host",
  ETIMEDOUT: "connection timed out",
  UND_ERR_CONNECT_TIMEOUT: "connection timed out",
};

/** Codes of a host name that cannot be looked up. */
export const unknownHost: ReadonlySet<string> = new Set(["ENOTFOUND", "EAI_AGAIN"]);
