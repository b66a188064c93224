import { chmod, mkdir, rm, rmdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { syncFolder } from "../../../move-file.ts";
import { moveToName, partName, whereLinksLead } from "../../files/file-names.ts";
import { OutputError } from "../../files/output-error.ts";
import type { FrozenTarget } from "./frozen-input.ts";
import type { FrozenMemory } from "./frozen-memory.ts";

/**
 * The folder for files that are not complete, next to the first target: `.NAME.RUN.part`. It is on the same disk, so that a
 * complete file only has to be renamed.
 */
export async function makeWorkFolder({ path, name }: FrozenTarget, owner: string): Promise<string> {
  const target = await whereLinksLead(path);
  const folder = join(dirname(target), partName(`${basename(target)}.${owner.slice(-8)}`));
  try {
    // Not recursive: Node then reports a read-only disk as a missing folder.
    await mkdir(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
    return folder;
  } catch (error) {
    throw new OutputError(name, error as NodeJS.ErrnoException);
  }
}

/** Removes the folder if nothing in it is worth resuming. */
export const removeIfEmpty = (folder: string): Promise<void> => rmdir(folder).catch(() => {});

/** Removes the folder with everything in it. */
export const removeWorkFolder = (folder: string): Promise<void> =>
  rm(folder, { recursive: true, force: true });

/** Whether an earlier process of the run has moved what is at this path there. */
export async function isDelivered(path: string, memory: FrozenMemory): Promise<boolean> {
  const target = await whereLinksLead(path);
  const recorded = memory.places.delivered[target];
  return recorded !== undefined && recorded === (await identityAt(target));
}

/**
 * Moves a complete file or folder to its target at once. Its identity is recorded first: a process that
 * is killed just then recognizes it. What is replaced passes its permissions on.
 */
export async function deliver(
  from: string,
  { path, name, replaces }: FrozenTarget,
  memory: Pick<FrozenMemory, "addDelivered"> | null,
): Promise<void> {
  const target = await whereLinksLead(path);
  try {
    const old = replaces ? await stat(target).catch(() => null) : null;
    if (old !== null) await chmod(from, old.mode & 0o777).catch(() => {});
    memory?.addDelivered(target, (await identityAt(from))!);
    const taken = moveToName(from, target, { replaces, name });
    await syncFolder(dirname(target));
    if (taken !== null) throw taken;
  } catch (error) {
    if (error instanceof OutputError) throw error;
    throw new OutputError(name, error as NodeJS.ErrnoException);
  }
}

/** A text that stays the same when a file is renamed, and changes when it is replaced; null if it does not exist. */
async function identityAt(path: string): Promise<string | null> {
  const found = await stat(path).catch(() => null);
  if (found === null) return null;
  return [found.dev, found.ino, ...(found.isFile() ? [found.size] : [])].join(":");
}
