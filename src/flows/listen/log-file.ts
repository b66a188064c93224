import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  readFileSync,
  readSync,
  realpathSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { asFileError, CatError, fileProblem } from "../../errors.ts";
import { parseJson } from "../../json.ts";
import { syncFolder } from "../../move-file.ts";
import { newFileSync, type OpenFile, openKept } from "../../open-file.ts";
import { whereLinksLead } from "../files/file-names.ts";

/** How many events were shown, by the text of a mark; null if another program wrote it. */
function shownBy(text: string): number | null {
  try {
    const { events } = parseJson(text) as { events?: unknown };
    return Number.isInteger(events) ? (events as number) : null;
  } catch {
    return null;
  }
}

/** Longer than any mark, so that each one replaces the last. */
const length = 80;

/**
 * How many events of a log were shown, in a file next to the log. It is removed when all were shown: one that
 * is left belongs to a process that was killed, and the next one shows the rest. Written without a sync,
 * because what a process wrote survives its kill.
 */
export class ShownMark {
  readonly #file: number;
  #events = 0;

  /** Creates the file, instead of an earlier one (`sidePaths` checks it). Throws an error of the system. */
  constructor(
    private readonly path: string,
    events: number,
  ) {
    rmSync(path, { force: true });
    this.#file = newFileSync(path);
    this.set(events);
  }

  /** The number of events that a killed process has shown; null if the last one was not killed. */
  static left(path: string): number | null {
    return existsSync(path) ? shownBy(readFileSync(path, "utf8")) : null;
  }

  /** Records that this many events, the first of the log, are shown. Fewer than before change nothing. */
  set(events: number): void {
    if (events < this.#events) return;
    this.#events = events;
    try {
      writeSync(this.#file, `${JSON.stringify({ events }).padEnd(length - 1)}\n`, 0);
    } catch {
      // Without the file nothing is shown twice.
      rmSync(this.path, { force: true });
    }
  }

  /** Removes the file, unless the log has more events. */
  close(events: number): void {
    closeSync(this.#file);
    if (events <= this.#events) rmSync(this.path, { force: true });
  }
}

/** Longer than any side file. */
const mostBytes = 1_000;

/**
 * The files next to the log at a path, which may be a link and may be missing: `lock` is locked while a
 * process listens with the log, and always empty; `mark` is that of the events that were shown. Throws a
 * CatError of type `file` if one of them is of the user: it would be overwritten and removed, and opening a
 * pipe would wait for its writer.
 */
export function sidePaths(log: string): { readonly lock: string; readonly mark: string } {
  const path = toRealPath(log);
  const side = { lock: `${path}-lock`, mark: `${path}-shown` };
  try {
    for (const file of [side.lock, side.mark]) {
      const stats = lstatSync(file, { throwIfNoEntry: false });
      // A kill right after it was created leaves the mark empty.
      if (stats === undefined || (stats.isFile() && stats.size === 0)) continue;
      if (!stats.isFile())
        throw foreign(file, stats.isDirectory() ? "it is a folder" : "it is not a regular file");
      const isMark = file === side.mark && stats.size <= mostBytes && ShownMark.left(file) !== null;
      if (!isMark) throw foreign(file, "another program wrote it");
    }
  } catch (error) {
    throw asFileError(error);
  }
  return side;
}

/** Without links, because two names of one log have one lock. */
function toRealPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** The file of an event log, open for appending. Tests pass one that fails. */
export interface LogFile {
  /** Appends the bytes and returns once they are on disk. On an error the file is restored if possible. */
  append(bytes: Buffer): Promise<void>;
  close(): Promise<void>;
}

/** Opens an absolute path, made for its owner alone in an existing folder. Throws a CatError (`file`). */
export async function openLogFile(path: string): Promise<LogFile & { readonly isNew: boolean }> {
  try {
    const stats = await stat(path).catch(() => null);
    // Opening a pipe would wait for its reader.
    if (stats !== null && !stats.isFile()) throw notRegular(path);
    // A link of this user is followed; one that is planted meanwhile is not.
    const file = await openKept(await whereLinksLead(path), "a");
    try {
      // Without this, a loss of power could lose the name of a new file.
      if (stats === null) await syncFolder(dirname(path));
      const { size, nlink } = await file.stat();
      // The lock is next to one name: a process that uses another would write to the same file.
      if (nlink > 1) throw hasOtherNames(path);
      return Object.assign(appender(path, file, !(await endsWithLine(file, size))), {
        isNew: stats === null,
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
function appender(path: string, file: OpenFile, startTorn: boolean): LogFile {
  let isTorn = startTorn;
  return {
    async append(bytes) {
      // Synchronous up to the sync: each turn of the thread pool would cost more than these. The size is not
      // kept between appends, because other programs change it (logrotate).
      const now = fstatSync(file.descriptor);
      if (!leadsTo(path, now)) throw gone(path);
      const all = isTorn ? Buffer.concat([Buffer.from("\n"), bytes]) : bytes;
      let written = 0;
      try {
        while (written < all.length) written += writeSync(file.descriptor, all, written);
        await file.syncData();
        isTorn = false;
      } catch (error) {
        // Nothing was acknowledged, so nothing may stay.
        if (!cutBack(file.descriptor, now.size, all.subarray(0, written))) isTorn = true;
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

async function endsWithLine(file: OpenFile, size: number): Promise<boolean> {
  if (size === 0) return true;
  return (await file.read(1, size - 1))[0] === 10;
}

/** The system allows writing to a removed file, and what was written would be lost. */
function leadsTo(path: string, { ino, dev }: { ino: number; dev: number }): boolean {
  const now = statSync(path, { throwIfNoEntry: false });
  return now !== undefined && now.ino === ino && now.dev === dev;
}

/** Errors of an open file do not name it. The listener lives on, and the sender tries again. */
function notWritten(path: string, cause: unknown): CatError {
  const { code = "unknown", message } = cause as NodeJS.ErrnoException;
  const fault = fileProblem(cause);
  const toDo = fault?.kind === "full" ? "Free some space" : "Check the file and its disk";
  const hint = `${toDo}. The event was not acknowledged, so the sender sends it again.`;
  return new CatError(`cannot write ${path}: ${fault?.why ?? message}`, { type: "file", code, hint, cause });
}

const unusable = (what: string, code: string, hint: string): CatError =>
  new CatError(`cannot ${what}`, { type: "file", code, hint });

const foreign = (path: string, why: string): CatError =>
  unusable(
    `use ${path} next to the event log: ${why}`,
    "side_file_in_use",
    "Move it elsewhere, or choose another log with --log FILE.",
  );

const notRegular = (path: string): CatError =>
  unusable(
    `use ${path} as the event log: it is not a regular file`,
    "not_a_file",
    "Choose another file with --log.",
  );

const hasOtherNames = (path: string): CatError =>
  unusable(
    `use ${path} as the event log: the file has another name (hard link)`,
    "has_links",
    "Remove the other name, or choose another file with --log.",
  );

const gone = (path: string): CatError =>
  unusable(
    `write ${path}: it was moved or removed`,
    "log_gone",
    "Restore it, or stop the command and run it again to start a new log.",
  );
