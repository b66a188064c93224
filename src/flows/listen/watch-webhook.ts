import type { Clock } from "../../clock.ts";
import { isOfCaller, isRejectedByService, mayNotRead } from "../service-errors.ts";
import { seeEnded } from "./leftover.ts";
import type { RegisteredWebhook, WebhookFault } from "./registration.ts";

/** How often the webhook is read, and how soon after the machine has slept, in milliseconds. */
const everyMs = 60_000;
const tickMs = 5_000;
/** The time that a read has, in milliseconds. */
const longestReadMs = 10_000;

interface WatchOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Reads the webhook; null if it gets events. */
  readonly read: (signal: AbortSignal) => Promise<WebhookFault | null>;
  readonly registerAgain: () => Promise<RegisteredWebhook>;
  /** The error that a fault ends the listener with; null to keep listening. */
  readonly endsBy?: ((fault: WebhookFault, webhookId: string) => Error | null) | undefined;
  readonly onProblem: (message: string, hint?: string) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Reads the webhook of a listener every minute, by the clock, until the signal: one that is gone is
 * registered again, and one that is paused, disabled or narrowed is warned about once. A service that cannot
 * be reached changes nothing; a rejected key ends the listener. Returns a function that reads it at once.
 */
export function watchWebhook(first: RegisteredWebhook, options: WatchOptions): () => Promise<void> {
  const { clock, signal } = options;
  let { id } = first;
  let warnedOf: WebhookFault | "unreadable" | null = null;
  let readAt = clock.now();
  let latest: Promise<void> = Promise.resolve();
  let pending = 0;
  const warn = (of: typeof warnedOf, message: string, hint: string) => {
    if (warnedOf !== of) options.onProblem(message, hint);
    warnedOf = of;
  };

  async function check(): Promise<void> {
    if (signal.aborted) return;
    readAt = clock.now();
    const patience = new AbortController();
    const cancel = clock.at(readAt + longestReadMs, () => patience.abort(new Error("timed out")));
    let isRead = false;
    try {
      const fault = await options.read(AbortSignal.any([signal, patience.signal]));
      isRead = true;
      if (signal.aborted) return;
      const end = fault === null ? null : (options.endsBy?.(fault, id) ?? null);
      if (end !== null) return options.fail(end);
      if (fault === "gone") await replace();
      else if (fault === null) warnedOf = null;
      else warn(fault, `webhook ${id} ${faultWords[fault]}`, faultHint(fault, id));
    } catch (error) {
      if (signal.aborted) return;
      if (mayNotRead(error) && !isRead)
        return warn("unreadable", `cannot check webhook ${id}: ${(error as Error).message}`, scopeHint);
      if (isOfCaller(error) || (isRead && isRejectedByService(error))) options.fail(error);
    } finally {
      cancel();
    }
  }
  async function replace(): Promise<void> {
    const gone = id;
    ({ id } = await options.registerAgain());
    warnedOf = null;
    options.onProblem(
      `webhook ${gone} no longer exists; webhook ${id} was registered instead`,
      `Events of the time between are missing. ${seeEnded}`,
    );
  }
  const checkNow = () => {
    pending++;
    latest = latest.then(check).finally(() => pending--);
    return latest;
  };

  let cancelTick = () => {};
  const tick = () => {
    cancelTick = clock.at(clock.now() + tickMs, tick);
    if (pending === 0 && clock.now() - readAt >= everyMs) void checkNow();
  };
  cancelTick = clock.at(clock.now() + tickMs, tick);
  signal.addEventListener("abort", () => cancelTick(), { once: true });
  return checkNow;
}

/** Faults as phrases that follow the ID of a webhook. */
export const faultWords = {
  paused: "is paused: it gets no events",
  disabled: "is disabled: it gets no events",
  narrowed: "no longer gets all events of this listener",
} as const satisfies Record<Exclude<WebhookFault, "gone">, string>;

/** The next step for a webhook that does not get the events of its listener. */
export const faultHint = (fault: Exclude<WebhookFault, "gone">, id: string): string =>
  fault === "narrowed"
    ? `To choose its events: cat webhooks update ${id} --events EVENTS`
    : `To resume it: cat webhooks update ${id} --status active`;

const scopeHint =
  "Use a key with the scope webhooks:read, so that the listener notices when its webhook is deleted or paused.";
