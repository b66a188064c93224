import type { Delivery, HandlerResponse } from "../forward/forward-event.ts";
import type { EventLine } from "../log/log-line.ts";

/** What a listener reports. */
export interface ListenView {
  /**
   * A new event, which is on disk: called once for each ID, also across restarts. `onShowing` must be called right before
   * the event is shown: a kill until then shows it at the next start, a kill from then on never again. A rejection ends
   * the listener.
   */
  onEvent(event: EventLine, delivery: Delivery, onShowing: () => void): Promise<void> | void;
  /**
   * Called once before events that an earlier listener received but did not show; `onMissed` follows for each of them. No
   * new event comes before the last one.
   */
  onMissing(count: number): Promise<void> | void;
  /** The same as `onEvent`, for one of these events. */
  onMissed: ListenView["onEvent"];
  /** The response of a handler. */
  onHandled(event: Pick<EventLine, "id" | "type">, response: HandlerResponse): void;
  /** A delivery of a known event, and the handlers that get it again because they have not accepted it. */
  onRepeated(event: Pick<EventLine, "id" | "type">, urls: readonly string[]): void;
  /** A request that was rejected, or a log that cannot be written: a phrase in lower case, and the next step. */
  onProblem(message: string, hint?: string): void;
}
