// The only place that opens files for writing, except what the test of this rule lists.

import {
  chmodSync,
  closeSync,
  constants,
  createReadStream,
  fchmod,
  fdatasync,
  fstat,
  fstatSync,
  fsync,
  ftruncate,
  lstatSync,
  mkdirSync,
  open,
  openSync,
  type ReadStream,
  read,
  readlinkSync,
  type Stats,
  statSync,
  unlinkSync,
  write,
  writeSync,
  writev,
  writevSync,
} from "node:fs";
import * as promised from "node:fs/promises";
import { dirname, isAbsolute, join, resolve, sep } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

/** Windows has no such flag. */
const { O_NOFOLLOW: neverLinks = 0 } = constants as Partial<typeof constants>;
const newFlags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | neverLinks;
/** Flags of files that exist or may exist: those of `fs.open` follow links. */
const keptFlags = {
  "r+": constants.O_RDWR | neverLinks,
  a: constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | neverLinks,
} as const;

/** Promises of `fs.promises` are not used: its handles lack `sync` and `writev` under Yarn Plug'n'Play. */
const openFile = promisify(open);
const writeBytes = promisify(write);
const writeParts = promisify(writev);
const readBytes = promisify(read);
const readStats = promisify(fstat);
const syncBytes = promisify(fdatasync);
const cutFile = promisify(ftruncate);
const changeMode = promisify(fchmod);

const syncFile = promisify(fsync);

/** A file that is open for writing, never through a link. */
export class OpenFile {
  readonly path: string;
  readonly descriptor: number;
  #isOpen = true;

  constructor(path: string, descriptor: number) {
    this.path = path;
    this.descriptor = descriptor;
  }

  /** Writes all bytes, at the end or at a position. */
  async write(content: Uint8Array | string, position: number | null = null): Promise<void> {
    const bytes = typeof content === "string" ? Buffer.from(content) : content;
    // One write does not always take all bytes.
    for (let done = 0; done < bytes.length; ) {
      const at = position === null ? null : position + done;
      done += (await writeBytes(this.descriptor, bytes, done, bytes.length - done, at)).bytesWritten;
    }
  }

  /** Writes all parts at a position. */
  async writeAll(parts: readonly Uint8Array[], position: number): Promise<void> {
    const { bytesWritten } = await writeParts(this.descriptor, parts, position);
    const bytes = parts.reduce((sum, { length }) => sum + length, 0);
    if (bytesWritten < bytes)
      await this.write(Buffer.concat(parts).subarray(bytesWritten), position + bytesWritten);
  }

  /** Writes all parts at the end, without the thread pool, which takes longer than the copy. */
  writeSync(parts: readonly Uint8Array[]): void {
    let written = writevSync(this.descriptor, parts);
    const bytes = parts.reduce((sum, { length }) => sum + length, 0);
    if (written === bytes) return;
    const rest = Buffer.concat(parts);
    while (written < bytes) written += writeSync(this.descriptor, rest, written);
  }

  /** The bytes from a position, at most `length`. */
  async read(length: number, position: number): Promise<Uint8Array> {
    const { buffer, bytesRead } = await readBytes(this.descriptor, Buffer.alloc(length), 0, length, position);
    return buffer.subarray(0, bytesRead);
  }

  /** Reads from a position to another one, and leaves the file open. */
  readStream(start: number, end: number, highWaterMark: number): ReadStream {
    return createReadStream(this.path, {
      fd: this.descriptor,
      start,
      end: end - 1,
      autoClose: false,
      highWaterMark,
    });
  }

  stat(): Promise<Stats> {
    return readStats(this.descriptor);
  }

  cut(length: number): Promise<void> {
    return cutFile(this.descriptor, length);
  }

  /** Returns when its bytes are on the disk. */
  sync(): Promise<void> {
    return syncFile(this.descriptor);
  }

  /** The same without the times of the file, which takes less. */
  syncData(): Promise<void> {
    return syncBytes(this.descriptor);
  }

  /** Sets the permissions, if the file system has any. */
  async chmod(mode: number): Promise<void> {
    await changeMode(this.descriptor, mode).catch(() => {});
  }

  /** Closes it, once. */
  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    // Not in the thread pool: the way there takes longer.
    closeSync(this.descriptor);
  }
}

/** Creates a private file. Throws EEXIST, also for a link. Not in the thread pool, which takes longer. */
export const newFile = (path: string, mode = 0o600): Promise<OpenFile> =>
  whenFree(async () => new OpenFile(path, newFileSync(path, mode)));

/** The same as a descriptor, without another attempt while too many files are open. */
export const newFileSync = (path: string, mode = 0o600): number => openSync(path, newFlags, mode);

/** Creates a file with a random name in a folder. `start` is the beginning of the name. */
export const temporaryFile = (folder: string, start = ".", mode = 0o600): Promise<OpenFile> =>
  newFile(join(folder, temporaryName(start)), mode);

/** Writes a file to a folder and removes it. Throws the error that any other file would meet. */
export async function tryToWrite(folder: string): Promise<void> {
  const start = ".try-";
  await removeTemporary(folder, start);
  const file = await temporaryFile(folder, start);
  try {
    await file.write("\n");
    await file.sync();
  } finally {
    await file.close().finally(() => promised.rm(file.path, { force: true }));
  }
}

/** A random name, which another user cannot have a link at. */
export const temporaryName = (start: string): string =>
  `${start}${crypto.randomUUID().replaceAll("-", "")}.part`;

/** Whether `temporaryName` has made a name with this start: a killed process may have left the file. */
export const isTemporaryName = (name: string, start: string): boolean =>
  name.startsWith(start) && /^[0-9a-f]{32}\.part$/.test(name.slice(start.length));

/** Removes temporary files of killed processes. One that cannot be removed does no harm. */
export async function removeTemporary(folder: string, start: string): Promise<void> {
  for (const name of await promised.readdir(folder).catch(() => []))
    if (isTemporaryName(name, start)) await promised.rm(join(folder, name), { force: true }).catch(() => {});
}

/** Opens a file that exists (`r+`), or to append to it (`a`). Throws the system's error, ELOOP for a link. */
export const openKept = (path: string, flags: keyof typeof keptFlags, mode = 0o600): Promise<OpenFile> =>
  whenFree(async () => new OpenFile(path, await openFile(path, keptFlags[flags], mode)));

/** The code of the system's error for changes to a file that exists; null if it can be changed. */
export function whyNotChanged(path: string): string | null {
  try {
    closeSync(openSync(path, keptFlags["r+"]));
    return null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? "";
  }
}

/** Creates a file if it is missing, and nothing else. */
export function touchFile(path: string): void {
  closeSync(openSync(path, keptFlags.a, 0o600));
}

/** Appends a short text in one write; creates a private file. Throws system errors. */
export function appendToFile(path: string, text: string): void {
  const file = openSync(path, keptFlags.a, 0o600);
  try {
    writeSync(file, text);
  } finally {
    closeSync(file);
  }
}

/** Replaces the content of a file of this process that only it can reach. */
export function rewriteFile(path: string, bytes: Uint8Array): void {
  const file = openSync(path, keptFlags["r+"] | constants.O_TRUNC);
  try {
    for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
  } finally {
    closeSync(file);
  }
}

/** Copies a file to a new one. */
export const copyFile = (from: string, to: string): Promise<void> =>
  whenFree(() => promised.copyFile(from, to, constants.COPYFILE_EXCL));

/** Attempts to open a file, and the pause between two, in milliseconds. */
const patience = { attempts: 100, pauseMs: 20 };

/** Repeats work that opens a file while too many are open: this process closes others meanwhile. */
export async function whenFree<Result>(
  work: () => Promise<Result>,
  pause: () => Promise<unknown> = () => sleep(patience.pauseMs),
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!isOutOfFiles(error) || attempt === patience.attempts) throw error;
    }
    await pause();
  }
}

/** Whether too many files are open, or the system has no memory for one more: a problem of no file. */
export const isOutOfFiles = (error: unknown): boolean =>
  /^(?:EMFILE|ENFILE|ENOMEM)$/.test(String((error as NodeJS.ErrnoException | null)?.code));

/** Makes a folder private. Throws ELINKOWNER for a folder of others, and ELOOP for a link. */
export function makePrivateFolder(path: string): void {
  try {
    mkdirSync(path, 0o700);
    return;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  const { mode } = lstatFolder(path);
  if (!isOwnFile(path, path)) throw ofOthers(path);
  if ((mode & 0o077) !== 0) {
    try {
      chmodSync(path, 0o700);
    } catch {
      // A file system without permissions.
    }
  }
}

function lstatFolder(path: string) {
  const stats = lstatSync(path);
  if (stats.isDirectory()) return stats;
  const code = stats.isSymbolicLink() ? "ELOOP" : "ENOTDIR";
  throw Object.assign(new Error("not a folder"), { code, syscall: "mkdir", path });
}

/**
 * Whether a file or folder has the owner of files that this process creates in `folder`. Another owner than
 * the user of the process needs a look: network drives and USB sticks give files other owners. A kill leaves
 * the file of that look.
 */
export function isOwnFile(path: string, folder: string = dirname(path)): boolean {
  if (lstatSync(path).uid === ownUid()) return true;
  const probe = join(folder, temporaryName(".owner-"));
  let file: number;
  try {
    file = newFileSync(probe);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EACCES") return false;
    throw error;
  }
  try {
    return fstatSync(file).uid === lstatSync(path).uid;
  } finally {
    closeSync(file);
    unlinkSync(probe);
  }
}

/**
 * Throws ELINKOWNER if a path, or a folder of it, is a link of another user that leads to what is not that
 * user's: such a link may have been planted in a shared folder. Links of this user and of the system are
 * followed, and checked like the path.
 */
export function rejectForeignLink(path: string, depth = 0): void {
  // The system reports circular links itself.
  if (depth === mostLinks) return;
  // Not normalized: only the system resolves `..` correctly after a folder that is a link.
  for (let end = path.indexOf(sep, 1); ; end = path.indexOf(sep, end + 1)) {
    const part = end === -1 ? path : path.slice(0, end);
    const link = linkAt(part, depth > 0);
    if (link !== null) {
      if (link.uid === 0 || link.uid === ownUid()) rejectForeignLink(targetOf(part), depth + 1);
      else if (statSync(part, { throwIfNoEntry: false })?.uid !== link.uid) throw ofOthers(resolve(part));
    }
    if (end === -1) return;
  }
}

/** The links of a path that are followed at most, as by the system. */
const mostLinks = 40;

function targetOf(link: string): string {
  const target = readlinkSync(link);
  return isAbsolute(target) ? target : `${dirname(link)}${sep}${target}`;
}

/** The link at a path, or null. `isTarget`: a link of this user or the system leads there. */
function linkAt(path: string, isTarget: boolean): Stats | null {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    return stats?.isSymbolicLink() ? stats : null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // A standard stream leads to a file that is open already, in a folder that this user may not search.
    if (code === "ENOTDIR" || (isTarget && code === "EACCES")) return null;
    throw error;
  }
}

const ofOthers = (path: string): Error =>
  Object.assign(new Error("of another user"), { code: "ELINKOWNER", syscall: "open", path });

/** The user of this process, who may have no name; null where the system has none. */
const ownUid = (): number | null => process.geteuid?.() ?? null;
