import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readFileSync,
  readSync,
  realpathSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { uptime } from "node:os";
import { dirname } from "node:path";
import { asFileError, CatError, fileProblem } from "../../errors.ts";

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

/** Longer than any side file. */
const mostBytes = 1_000;

/** The paths of the files next to a log. */
interface SidePaths {
  /** Locked while a process listens with the log; always empty. */
  readonly lock: string;
  /** The mark of the events that were shown (`ShownMark`). */
  readonly mark: string;
}

/**
 * The files next to the log at a path, which may be a link and may be missing. Throws a CatError of type `file` if one of
 * them exists but is of the user: it would be overwritten and removed, and opening a pipe would wait for its writer.
 */
export function sidePaths(log: string): SidePaths {
  const path = realPathOf(log);
  const [lock, mark] = [`${path}-lock`, `${path}-shown`];
  const textOf = (file: string): string => {
    const found = lstatSync(file, { throwIfNoEntry: false });
    if (found === undefined) return "";
    if (!found.isFile())
      throw foreign(file, found.isDirectory() ? "it is a folder" : "it is not a regular file");
    return found.size > mostBytes ? "too long" : textIfThere(file);
  };
  try {
    if (textOf(lock) !== "") throw foreign(lock, anotherProgram);
    // A kill right after it was created leaves it empty.
    const text = textOf(mark);
    if (text !== "" && markOf(text) === null) throw foreign(mark, anotherProgram);
  } catch (error) {
    throw asFileError(error);
  }
  return { lock, mark };
}

/** A listener that ends removes its files. */
function textIfThere(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}

/** Without links, because two names of one log have one lock. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

const anotherProgram = "another program wrote it";

const foreign = (path: string, why: string): CatError =>
  new CatError(`cannot use ${path} next to the event log: ${why}`, {
    type: "file",
    code: "side_file_in_use",
    hint: "Move it elsewhere, or choose another log with --log FILE.",
  });

/** The file of an event log, open for appending. Tests pass one that fails. */
export interface LogFile {
  /** Appends the bytes and returns once they are on disk. On an error the file is as before, as far as possible. */
  append(bytes: Buffer): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the file at an absolute path, which is created, readable only by its owner. Its folder must exist. Throws a
 * CatError of type `file`.
 */
export async function openLogFile(path: string): Promise<LogFile & { readonly isNew: boolean }> {
  try {
    const found = await stat(path).catch(() => null);
    // Opening a pipe would wait for its reader.
    if (found !== null && !found.isFile()) throw notRegular(path);
    const { O_APPEND, O_CREAT, O_RDWR } = constants;
    const file = await open(path, O_APPEND | O_CREAT | O_RDWR, 0o600);
    try {
      // Without this, a loss of power could lose the name of a new file.
      if (found === null) await syncFolder(dirname(path));
      const { size, nlink } = await file.stat();
      // The lock is next to one name: a process that uses another would write to the same file.
      if (nlink > 1) throw hasOtherNames(path);
      return Object.assign(appender(path, file, !(await endsWithLine(file, size))), {
        isNew: found === null,
      });
    } catch (error) {
      await file.close();
      throw error;
    }
  } catch (error) {
    throw asFileError(error);
  }
}

/** `startTorn`: the last line is incomplete, because the process that wrote it was killed. */
function appender(path: string, file: FileHandle, startTorn: boolean): LogFile {
  let isTorn = startTorn;
  return {
    async append(bytes) {
      // Synchronous up to the sync: each turn of the thread pool would cost more than these. The size is not kept
      // between appends, because other programs change it (logrotate).
      const now = fstatSync(file.fd);
      if (!leadsTo(path, now)) throw gone(path);
      const all = isTorn ? Buffer.concat([Buffer.from("\n"), bytes]) : bytes;
      let written = 0;
      try {
        while (written < all.length) written += writeSync(file.fd, all, written);
        await file.datasync();
        isTorn = false;
      } catch (error) {
        // Nothing was acknowledged, so nothing may stay.
        if (!cutBack(file.fd, now.size, all.subarray(0, written))) isTorn = true;
        throw notWritten(path, error);
      }
    },
    close: () => file.close(),
  };
}

/** Removes the end of a file from `start`. Returns false if it is not what this process has written there. */
function cutBack(descriptor: number, start: number, written: Buffer): boolean {
  if (written.length === 0) return true;
  try {
    const end = Buffer.alloc(written.length);
    if (fstatSync(descriptor).size !== start + written.length) return false;
    if (readSync(descriptor, end, 0, end.length, start) < end.length || !end.equals(written)) return false;
    ftruncateSync(descriptor, start);
    return true;
  } catch {
    return false;
  }
}

async function endsWithLine(file: FileHandle, size: number): Promise<boolean> {
  if (size === 0) return true;
  const last = Buffer.alloc(1);
  await file.read(last, 0, 1, size - 1);
  return last[0] === 10;
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** The system allows writing to a removed file, and what was written would be lost. */
function leadsTo(path: string, { ino, dev }: { ino: number; dev: number }): boolean {
  const now = statSync(path, { throwIfNoEntry: false });
  return now !== undefined && now.ino === ino && now.dev === dev;
}

/** Errors of an open file do not name it. */
function notWritten(path: string, cause: unknown): CatError {
  const { code = "unknown", message } = cause as NodeJS.ErrnoException;
  const fault = fileProblem(cause);
  return new CatError(`cannot write ${path}: ${fault?.why ?? message}`, {
    type: "file",
    code,
    hint: fault === null ? "Check the disk." : hints[fault.kind],
    cause,
  });
}

/** The listener lives on, and the sender tries again. */
const hints = {
  full: "Free some space. The event was not acknowledged, so the sender sends it again.",
  denied: "Check the permissions of the file. The sender sends the event again.",
  place: "Check the file. The sender sends the event again.",
  limit: "Raise the limit of open files (ulimit -n). The sender sends the event again.",
  disk: "Check the disk. The sender sends the event again.",
} as const;

const notRegular = (path: string): CatError =>
  new CatError(`cannot use ${path} as the event log: it is not a regular file`, {
    type: "file",
    code: "not_a_file",
    hint: "Choose another file with --log.",
  });

const hasOtherNames = (path: string): CatError =>
  new CatError(`cannot use ${path} as the event log: the file has another name (hard link)`, {
    type: "file",
    code: "has_links",
    hint: "Remove the other name, or choose another file with --log.",
  });

const gone = (path: string): CatError =>
  new CatError(`cannot write ${path}: it was moved or removed`, {
    type: "file",
    code: "log_gone",
    hint: "Restore it, or stop the command and run it again to start a new log.",
  });
