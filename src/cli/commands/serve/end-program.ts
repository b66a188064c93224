import type { Clock } from "../../../clock.ts";

/** The time that a program has to end after SIGTERM, in milliseconds. */
export const graceMs = 5_000;
/** How often it is checked whether the program has ended, in milliseconds. */
const checkMs = 100;

/** Ends a process, or all of a group if `target` is its negative ID: SIGTERM, and SIGKILL after 5 s. */
export async function endProgram(target: number, clock: Pick<Clock, "now" | "sleep">): Promise<void> {
  const deadline = clock.now() + graceMs;
  signalTo(target, "SIGTERM");
  while (isAlive(target)) {
    if (clock.now() >= deadline) return signalTo(target, "SIGKILL");
    await clock.sleep(checkMs);
  }
}

/** Sends a signal to a process, or to all of a group; one that has ended is skipped. */
export function signalTo(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal);
  } catch {
    // It has ended.
  }
}

function isAlive(target: number): boolean {
  try {
    return process.kill(target, 0);
  } catch {
    return false;
  }
}
