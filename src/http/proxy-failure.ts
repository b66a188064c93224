import type { Dispatcher } from "undici";
import type { HttpProxy } from "./proxies.ts";

/** An error of undici or Node on the way through a proxy; `code` is that of the cause. */
export class ProxyFailure extends Error {
  override readonly name = "ProxyFailure";
  readonly proxy: HttpProxy;
  override readonly cause: Error;

  constructor(proxy: HttpProxy, cause: Error) {
    super(cause.message, { cause });
    this.proxy = proxy;
    this.cause = cause;
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
