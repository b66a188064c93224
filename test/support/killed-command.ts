import type { Judge } from "./gateway.ts";
import { aroundStatements } from "./sqlite-statements.ts";
import type { TestClock } from "./test-clock.ts";

/** Thrown by what a killed process would have done next. */
class Killed extends Error {
  override readonly name = "Killed";
}

/** What the system does when a process ends. */
const endsTransaction = (sql: string): boolean => /^(?:ROLLBACK|DETACH)\b/.test(sql);

/**
 * A command that is killed at its n-th step, just before or after a request or a statement to SQLite: from then on it
 * reaches neither the service nor its state, and does not wait. `end` must be called after the command.
 */
export function killedAfter(steps: number, clock: TestClock) {
  let taken = 0;
  let hasEnded = false;
  const isOver = () => taken > steps;
  const step = () => {
    if (hasEnded) return;
    if (!isOver()) taken++;
    if (isOver()) throw new Killed("killed");
  };
  const atStatement = (sql: string) => {
    if (!endsTransaction(sql)) step();
  };
  aroundStatements({ before: atStatement, after: atStatement });
  const { sleep } = clock;
  clock.sleep = async (ms, signal) => {
    if (!hasEnded && isOver()) throw new Killed("killed");
    return sleep.call(clock, ms, signal);
  };
  const judge: Judge = () => {
    if (hasEnded) return null;
    try {
      step();
    } catch {
      return (response) => response.destroy();
    }
    try {
      step();
    } catch {
      return { lost: true };
    }
    return null;
  };
  return {
    judge,
    /** The number of steps so far. */
    get steps() {
      return taken;
    },
    /** Whether the command was killed before its end. */
    get isOver() {
      return isOver();
    },
    end() {
      hasEnded = true;
      clock.sleep = sleep;
    },
  };
}

export type Life = ReturnType<typeof killedAfter>;
