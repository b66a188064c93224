import type { Clock } from "../../clock.ts";
import type { InterruptSignal } from "./errors.ts";

/** A signal that comes again this soon is the same one: `timeout` sends it to the program and then to its whole group. */
const sameMs = 50;

/** What is done when a signal comes: `first` ends what is under way, and `second` stops at once. */
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
      // A closing terminal sends several, and nobody is left there who is in a hurry.
      return;
    } else if (signal !== received.signal || Math.abs(now - received.at) > sameMs) {
      second(signal);
    }
  };
}
