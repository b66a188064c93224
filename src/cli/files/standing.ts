import type { Stats } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { whereLinksLead } from "../../flows/outputs/output-file.ts";

/** Which file a path means, by whatever links and names, and where that stands or will stand. */
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
  // Devices and pipes may be read and written at once.
  return { path: end, identity: found?.isFile() ? idOf(found) : `${folder}/${name}`, folder, name };
}

/** What two paths of one file have in common. */
export const identityOf = async (path: string): Promise<string> => (await standingOf(path)).identity;

/** The same for a file; null for whatever else, as a terminal may well be written to by two. */
export async function identityOfFile(path: string): Promise<string | null> {
  return (await stat(path).catch(() => null))?.isFile() ? identityOf(path) : null;
}
