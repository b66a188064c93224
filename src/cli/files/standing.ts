import type { Stats } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { whereLinksLead } from "../../flows/files/file-names.ts";

/**
 * The file that a path leads to, whatever links and names it goes through, and its folder; the file may not
 * exist yet.
 */
export interface Standing {
  /** The path without links. */
  readonly path: string;
  readonly identity: string;
  readonly folder: string;
  readonly name: string;
}

export async function standingOf(path: string): Promise<Standing> {
  const end = await whereLinksLead(path);
  const idOf = ({ dev, ino }: Stats) => `${dev}:${ino}`;
  const inFolder = await stat(dirname(end)).catch(() => null);
  const [folder, name] = [inFolder === null ? dirname(end) : idOf(inFolder), basename(end)];
  const found = await stat(end).catch(() => null);
  // Devices and pipes are compared by name, because they can be read and written at the same time.
  return { path: end, identity: found?.isFile() ? idOf(found) : `${folder}/${name}`, folder, name };
}

/** A text that is equal for two paths to the same file. */
export const identityOf = async (path: string): Promise<string> => (await standingOf(path)).identity;

/** The same for a regular file; null for anything else, because two outputs can share a terminal. */
export async function identityOfFile(path: string): Promise<string | null> {
  return (await stat(path).catch(() => null))?.isFile() ? identityOf(path) : null;
}
