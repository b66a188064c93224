import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { App } from "../../app/app.ts";
import { UsageError } from "../../context/errors.ts";

/** The path of a mirror. Throws UsageError for a file. */
export async function mirrorFolder(app: App, name: string): Promise<string> {
  const path = resolve(app.context.cwd, name);
  const found = await stat(path).catch(() => null);
  if (found === null || found.isDirectory()) return path;
  throw new UsageError(`${app.io.visible(name)} is not a folder`, {
    param: "DIR",
    hint: "Choose a new or empty folder, for example cat export sync images.",
  });
}

export const existingFolder = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => null))?.isDirectory() ?? false;
