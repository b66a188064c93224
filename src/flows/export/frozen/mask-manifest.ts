import { open, rename, stat } from "node:fs/promises";
import type { Client } from "../../../client/client.ts";
import { OutputError } from "../../files/output-error.ts";
import { linesOf } from "./check-manifest.ts";

/**
 * Masks the API key in a downloaded manifest, which has names of the service, and resolves to its size. The file is
 * rewritten only if it has the key. Throws OutputError; `name` is the file in it.
 */
export async function maskManifest(
  path: string,
  name: string,
  { withoutKey }: Pick<Client, "withoutKey">,
): Promise<number> {
  try {
    if (await hasChange(path, withoutKey)) {
      const masked = `${path}.masked`;
      const file = await open(masked, "w");
      try {
        for await (const line of linesOf(path)) await file.appendFile(`${withoutKey(line)}\n`);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(masked, path);
    }
    return (await stat(path)).size;
  } catch (error) {
    throw new OutputError(name, error as NodeJS.ErrnoException);
  }
}

async function hasChange(path: string, withoutKey: Client["withoutKey"]): Promise<boolean> {
  for await (const line of linesOf(path)) if (withoutKey(line) !== line) return true;
  return false;
}
