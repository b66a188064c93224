import type { Clock } from "../../clock.ts";
import type { InterruptSignal } from "./errors.ts";

/**
 * A repeated signal within this time counts as one: `timeout` signals the program and then its process group.
 */
const sameMs = 50;

/**
 * Calls `first` for the first signal, which ends work in progress, and `second` for a later one, which stops
 * at once.
 */
export function interruptReceiver(
  clock: Pick<Clock, "now">,
  first: (signal: InterruptSignal) => void,
  second: (signal: InterruptSignal) => void,
): (signal: InterruptSignal) => void {
  let received: { signal: InterruptSignal; at: number } | null = null;
  return (signal) => {
    const now = clock.now();
    if (received === null) {
      received = { signal, at: now };
      first(signal);
    } else if (signal === "SIGHUP") {
      // A closing terminal sends several, and no user is waiting.
      return;
    } else if (signal !== received.signal || Math.abs(now - received.at) > sameMs) {
      second(signal);
    }
  };
}
