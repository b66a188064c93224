import { closeSync, openSync, readFileSync, rmSync, type Stats, statSync, writeSync } from "node:fs";
import { uptime } from "node:os";

type LogId = Pick<Stats, "dev" | "ino">;

/** What the file holds: the log that it belongs to, and how many of its events were shown. */
export interface Mark extends LogId {
  readonly events: number;
}

/** The mark in the text of its file; null if another program wrote it. */
export function markOf(text: string): Mark | null {
  try {
    const mark = JSON.parse(text) as Mark | null;
    const { dev, ino, events } = mark ?? {};
    const isMark = [dev, ino, events].every(Number.isInteger) && Object.keys(mark!).length === 3;
    return isMark ? mark : null;
  } catch {
    return null;
  }
}

/** Longer than any mark, so that each one replaces the last. */
const length = 80;

/**
 * How many events of a log were shown, in a file next to the log. It is removed when all were shown: one that is left
 * belongs to a process that was killed, and the next one shows the rest. Written without a sync, because what a process
 * wrote survives its kill; a mark from before the last start of the machine does not count.
 */
export class ShownMark {
  readonly #path: string;
  readonly #log: LogId;
  readonly #file: number;
  #events = 0;

  /** Creates the file, instead of an earlier one (`sidePaths` checks it). Throws an error of the system. */
  constructor(path: string, { dev, ino }: LogId, events: number) {
    this.#path = path;
    this.#log = { dev, ino };
    rmSync(path, { force: true });
    this.#file = openSync(path, "wx", 0o600);
    this.set(events);
  }

  /** The number of events of a log that a killed process has shown; null if the last one was not killed. */
  static left(path: string, log: LogId): number | null {
    try {
      const mark = markOf(readFileSync(path, "utf8"));
      const isOfLog = mark !== null && mark.dev === log.dev && mark.ino === log.ino;
      const isSinceStart = statSync(path).mtimeMs >= Date.now() - uptime() * 1000;
      return isOfLog && isSinceStart ? mark.events : null;
    } catch {
      return null;
    }
  }

  /** Records that so many events, the first ones of the log, are shown now. Fewer than before change nothing. */
  set(events: number): void {
    if (events < this.#events) return;
    this.#events = events;
    const mark: Mark = { ...this.#log, events };
    try {
      writeSync(this.#file, `${JSON.stringify(mark).padEnd(length - 1)}\n`, 0);
    } catch {
      // Without the file nothing is shown twice.
      rmSync(this.#path, { force: true });
    }
  }

  /** Removes the file, unless the log has more events. */
  close(events: number): void {
    closeSync(this.#file);
    if (events <= this.#events) rmSync(this.#path, { force: true });
  }
}
