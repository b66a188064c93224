import type { Stats } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { version as ownVersion } from "./context/version.ts";

/*
 * The code that V8 has made of parts of the program, kept between starts. V8 runs such code as it is, and
 * compares only the length of the source: who can write it runs code as the user.
 */

/** The part of `process` that loading the program needs. */
export type KeptCodeHost = Pick<
  NodeJS.Process,
  "arch" | "env" | "execArgv" | "getBuiltinModule" | "getuid" | "on" | "platform" | "version"
>;

/** The compiled form of a source. */
export interface Compiled {
  createCachedData(): Buffer;
}

/** The code of parts from earlier starts. */
export interface KeptCode {
  /** Null unless it was made of exactly this source. */
  read(name: string, source: Buffer): Buffer | null;
  /** Written when the process ends. */
  add(name: string, source: Buffer, script: Compiled): void;
}

/** Defaults of V8's flags that commands set (context.ts). Node 22 needs no budget. */
const defaultFlags = (version: string): string[] => [
  "--heap-growing-percent=0",
  ...(Number.parseInt(version.slice(1), 10) < 22 ? ["--wasm-tiering-budget=1800000"] : []),
];

/** The code of parts from earlier starts; null if none can be kept. */
export function keptCode(host: KeptCodeHost): KeptCode | null {
  const folder = folderOfCode(host);
  if (folder === null) return null;
  const added: { name: string; source: Buffer; script: Compiled }[] = [];
  host.on("exit", () => {
    if (added.length === 0) return;
    try {
      // V8 rejects code that was made with other flags.
      for (const flag of defaultFlags(host.version))
        host.getBuiltinModule("node:v8").setFlagsFromString(flag);
      for (const { name, source, script } of added)
        replaceFile(host, join(folder, name), toFile(host, source, script.createCachedData()));
    } catch {}
  });
  return {
    read(name, source) {
      const file = readOwnFile(host, join(folder, name));
      return file && codeIn(file, source);
    },
    add: (name, source, script) => void added.push({ name, source, script }),
  };
}

/** The length of a SHA-256 in hex. It is a multiple of 8: V8 copies code that begins elsewhere. */
const digestLength = 64;

/**
 * A file of kept code: the SHA-256 of the source, the code, the SHA-256 again, and the source. Comparing the
 * source takes less time than loading node:crypto to hash it, and finds a file of which a crash has left only
 * the beginning.
 */
function toFile(host: KeptCodeHost, source: Buffer, code: Buffer): Buffer {
  const digest = Buffer.from(host.getBuiltinModule("node:crypto").hash("sha256", source));
  return Buffer.concat([digest, code, digest, source]);
}

function codeIn(file: Buffer, source: Buffer): Buffer | null {
  const sourceAt = file.length - source.length;
  const end = sourceAt - digestLength;
  if (end <= digestLength || !file.subarray(sourceAt).equals(source)) return null;
  const isComplete = file.subarray(end, sourceAt).equals(file.subarray(0, digestLength));
  return isComplete ? file.subarray(digestLength, end) : null;
}

/** The content of a regular file that no other user can have written; null for anything else. */
function readOwnFile(host: KeptCodeHost, path: string): Buffer | null {
  const { closeSync, constants, fstatSync, openSync, readFileSync } = host.getBuiltinModule("node:fs");
  // Windows has neither flag. Opening a pipe would wait for its writer.
  const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY } = constants;
  try {
    const file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const stats = fstatSync(file);
      return stats.isFile() && isOwn(host, stats, 0o022) ? readFileSync(file) : null;
    } finally {
      closeSync(file);
    }
  } catch {
    return null;
  }
}

function replaceFile(host: KeptCodeHost, path: string, content: Buffer): void {
  const { closeSync, constants, openSync, renameSync, rmSync, writeFileSync } =
    host.getBuiltinModule("node:fs");
  const { O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_WRONLY } = constants;
  const part = `${path}.${host.getBuiltinModule("node:crypto").randomUUID()}`;
  const file = openSync(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    try {
      writeFileSync(file, content, { flush: true });
    } finally {
      closeSync(file);
    }
    renameSync(part, path);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
}

/**
 * The folder of the code for this version and this Node with its flags. Null if it or a folder above can be
 * changed by another user, which only costs time, if NODE_DISABLE_COMPILE_CACHE is set, and at the first
 * start, which only creates it: in a container there may be no second one.
 */
function folderOfCode(host: KeptCodeHost): string | null {
  const { arch, env, execArgv, getBuiltinModule, version } = host;
  if (env.NODE_DISABLE_COMPILE_CACHE) return null;
  const { lstatSync, mkdirSync } = getBuiltinModule("node:fs");
  const flags = [...execArgv, env.NODE_OPTIONS ?? ""].join(" ").trim();
  const withFlags = flags && `-${getBuiltinModule("node:crypto").hash("sha256", flags)}`;
  let isNew = false;
  try {
    const cache = cacheFolder(host);
    const above = cache && safeFolder(host, dirname(cache));
    if (cache === null || above === null) return null;
    let folder = above;
    for (const inner of [basename(cache), `${ownVersion}-node-${version}-${arch}${withFlags}`]) {
      folder = join(folder, inner);
      const stats = lstatSync(folder, { throwIfNoEntry: false });
      isNew = stats === undefined;
      if (stats === undefined) mkdirSync(folder, 0o700);
      else if (!stats.isDirectory() || !isOwn(host, stats, 0o077)) return null;
    }
    if (!isNew) return folder;
    removeUnused(host, folder);
  } catch {}
  return null;
}

/**
 * The user's folder for what can be made again: that of env-paths, whose loading would take longer than
 * reading the code. As the XDG specification says, a relative path counts as not set. Null without a home
 * folder. CAT_HOME does not move it: it may be restored from the cache of a CI job, which must not bring
 * code.
 */
export function cacheFolder({ env, getBuiltinModule, platform }: KeptCodeHost): string | null {
  const named = platform === "win32" ? env.LOCALAPPDATA : platform === "darwin" ? "" : env.XDG_CACHE_HOME;
  const below = { win32: "AppData/Local", darwin: "Library/Caches" }[platform as string] ?? ".cache";
  const home = (platform === "win32" ? env.USERPROFILE : env.HOME) ?? getBuiltinModule("node:os").homedir();
  const folder = named && isAbsolute(named) ? named : join(home, below);
  return isAbsolute(folder) ? join(folder, "catalogue", ...(platform === "win32" ? ["Cache"] : [])) : null;
}

/** The real path of a folder that no other user can replace; null otherwise. Creates it in such a folder. */
function safeFolder(host: KeptCodeHost, path: string): string | null {
  const { existsSync, mkdirSync, realpathSync } = host.getBuiltinModule("node:fs");
  if (!existsSync(path)) {
    // Not in the home folder of a user who runs this by sudo: that user could not write there.
    if (!isSafe(host, realpathSync.native(dirname(path)))) return null;
    mkdirSync(path, 0o700);
  }
  const real = realpathSync.native(path);
  return isSafe(host, real) ? real : null;
}

/** Whether only this user and root can rename a folder, those above, and their content. */
function isSafe(host: KeptCodeHost, path: string): boolean {
  const { uid, mode } = host.getBuiltinModule("node:fs").lstatSync(path);
  const own = host.getuid?.();
  if (own === undefined) return true;
  const isSticky = (mode & 0o1000) !== 0;
  if ((uid !== own && uid !== 0) || ((mode & 0o022) !== 0 && !isSticky)) return false;
  return path === dirname(path) || isSafe(host, dirname(path));
}

/** Whether a file or folder is this user's, and denies all others `denied`. Windows has no such modes. */
function isOwn({ getuid }: KeptCodeHost, { uid, mode }: Stats, denied: number): boolean {
  return getuid === undefined || (uid === getuid() && (mode & denied) === 0);
}

/** Removes the code of other versions that were first used over 30 days before this one. */
function removeUnused(host: KeptCodeHost, folder: string): void {
  const { readdirSync, rmSync, statSync } = host.getBuiltinModule("node:fs");
  const before = statSync(folder).mtimeMs - 30 * 24 * 60 * 60 * 1000;
  const above = dirname(folder);
  for (const name of readdirSync(above)) {
    const other = join(above, name);
    if (statSync(other).mtimeMs < before) rmSync(other, { recursive: true });
  }
}
