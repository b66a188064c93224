import type { Dispatcher } from "undici";
import type { Connections, Transport } from "./connections.ts";
import { TransportFailure } from "./network-failure.ts";

/** A request in flight. */
interface Running {
  readonly handler: Dispatcher.DispatchHandler;
  controller: Dispatcher.DispatchController | null;
}

/**
 * The connections of a transport that the caller has given, and closes: only the requests in flight end with
 * the client. Its errors name it.
 */
export function givenConnections(name: "fetch" | "dispatcher", transport: Transport): Connections {
  const running = new Set<Running>();
  let isClosed = false;
  const end = (one: Running, error: Error) => {
    if (!running.delete(one)) return;
    one.handler.onResponseError?.(one.controller as Dispatcher.DispatchController, error);
  };
  const dispatch: Transport["dispatch"] = (options, handler) => {
    const one: Running = { handler, controller: null };
    running.add(one);
    const fail = (error: unknown) => end(one, new TransportFailure(name, error));
    if (isClosed) {
      end(one, closed());
      return false;
    }
    try {
      return transport.dispatch(options, {
        onRequestStart(controller, context) {
          one.controller = controller;
          if (running.has(one)) handler.onRequestStart?.(controller, context);
          else controller.abort(closed());
        },
        onResponseStart: (...head) => handler.onResponseStart?.(...head),
        onResponseData: (...data) => handler.onResponseData?.(...data),
        onResponseEnd(...last) {
          if (running.delete(one)) handler.onResponseEnd?.(...last);
        },
        onResponseError: (_, error) => fail(error),
      });
    } catch (error) {
      fail(error);
      return false;
    }
  };
  const given = { dispatch };
  return {
    forOrigin: async () => given,
    // The caller decides on its connections.
    retire: async () => {},
    async close() {
      isClosed = true;
      for (const one of [...running]) {
        end(one, closed());
        one.controller?.abort(closed());
      }
    },
  };
}

/** The error of undici for a request to closed connections. */
const closed = (): Error => Object.assign(new Error("the client is closed"), { code: "UND_ERR_DESTROYED" });
