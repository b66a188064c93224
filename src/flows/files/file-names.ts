import { hash } from "node:crypto";
import { realpath as realpathByLinks } from "node:fs";
import { readdir, readlink, realpath, rm } from "node:fs/promises";
import { platform } from "node:os";
import { basename, dirname, extname, isAbsolute, join, resolve, sep } from "node:path";
import { promisify } from "node:util";
import { moveFile } from "../../move-file.ts";
import { rejectForeignLink } from "../../open-file.ts";
import { startInBytes } from "../../text.ts";
import { OutputError } from "./disk.ts";

/** Moves a complete file to the first free name of `numbered`, and returns its number. */
export function moveToFreeName(from: string, to: string): number {
  for (let number = 1; ; number++) if (moveFile(from, numbered(to, number), true)) return number;
}

/** Moves a complete file to a name, or to the next free one with an error if it was taken meanwhile. */
export function moveToName(
  from: string,
  to: string,
  { replaces, name = to }: { replaces: boolean; name?: string | undefined },
): OutputError | null {
  if (replaces) moveFile(from, to, false);
  const number = replaces ? 1 : moveToFreeName(from, to);
  return number === 1 ? null : appeared(name, number);
}

/** Whether a file is complete, but has another name than asked for: another program took that one. */
export const hasOtherName = (error: unknown): error is OutputError =>
  error instanceof OutputError && error.code === "file_appeared";

/** The error of a name that another program took while the command was running. */
export const appeared = (name: string, number: number): OutputError =>
  new OutputError(name, Object.assign(new Error("it exists"), { code: "EEXIST" }), {
    what: `was created by another program meanwhile, and stays; the new file is ${numbered(name, number)}`,
    code: "file_appeared",
    hint: "Check both files, and rename the one that you need.",
  });

/** `rows.failed.csv`, then `rows.failed-2.csv` and so on. */
export function numbered(path: string, number: number): string {
  const extension = extname(path);
  return number === 1 ? path : `${path.slice(0, path.length - extension.length)}-${number}${extension}`;
}

export interface PartOwner {
  readonly pid: number;
  /** Unique to the run: process IDs are used again, and repeat between containers. */
  readonly runId: string;
  isRunning(pid: number): boolean;
}

/** A name for `OutputFile.begin` of an allowed length; removes files of the path that a kill left. */
export async function unfinishedName(path: string, { pid, runId, isRunning }: PartOwner): Promise<string> {
  const start = `${hash("sha256", basename(path)).slice(0, 12)}-`;
  const folder = dirname(path);
  const pattern = new RegExp(`^\\.${start}(\\d+)-\\w+\\.part$`);
  for (const name of await readdir(folder).catch(() => [])) {
    const owner = Number(pattern.exec(name)?.[1] ?? Number.NaN);
    if (Number.isNaN(owner) || (owner !== pid && isRunning(owner))) continue;
    await rm(join(folder, name), { force: true }).catch(() => {});
  }
  return `${start}${pid}-${runId}`;
}

/** The longest name on common file systems, in bytes, less the sidecar's addition. */
const longest = 255 - ".state".length;

/** The name of the part of a file: `.NAME.part`, or a shortened NAME with a digest if that is too long. */
export function partName(name: string): string {
  const usual = `.${name}.part`;
  if (Buffer.byteLength(usual) <= longest) return usual;
  const digest = hash("sha256", name).slice(0, 16);
  const ending = `-${digest}.part`;
  return `.${startInBytes(name, longest - ".".length - ending.length)}${ending}`;
}

/** The path without links. Node looks itself only on Windows: elsewhere it would misread `link/..`. */
export const realPath = (path: string): Promise<string> =>
  platform() === "win32" ? realpath(path).catch(() => promisify(realpathByLinks)(path)) : realpath(path);

/** The links of a path that are followed at most, as by the system: circular links have no target. */
const mostLinks = 40;

/** The final target of a path, which may not exist yet. Throws ELINKOWNER for a link of another user. */
export async function whereLinksLead(path: string): Promise<string> {
  let at = path;
  for (let followed = 0; followed < mostLinks; followed++) {
    rejectForeignLink(at, followed);
    const target = await readlink(at).catch(() => null);
    if (target === null) return realPath(at).catch(() => (at === path ? path : inRealFolder(at)));
    // Not joined: only the system resolves `..` correctly after a folder that is a link.
    at = isAbsolute(target) ? target : `${dirname(at)}${sep}${target}`;
  }
  return path;
}

const inRealFolder = (path: string): Promise<string> =>
  realPath(dirname(path)).then(
    (folder) => join(folder, basename(path)),
    () => resolve(path),
  );

/** A path as file systems without case or accent forms compare it: equal results collide. */
export function foldedPath(path: string): string {
  // ASCII has one form, and most names are ASCII.
  if (!/[^\0-\x7f]/.test(path)) return path.toLowerCase();
  return path.normalize("NFD").toUpperCase().toLowerCase().normalize("NFC");
}

/** The endings of photos, also of those that the service does not take. */
export const photoEnding = /\.(?:jpe?g|png|webp|tiff?|avif|gif|bmp|heic)$/i;
