import { resolve } from "node:path";
import type { App } from "../../app/app.ts";
import { UsageError } from "../../context/errors.ts";
import { confirmReplace } from "../../files/confirm-replace.ts";
import { ownFiles } from "../../files/own-files.ts";
import { identityOfFile, standingOf } from "../../files/standing.ts";

/**
 * Checks before any request that the file of `--out` can be written, and asks before an existing one is
 * replaced. Resolves to its path. Throws UsageError.
 */
export async function checkOutFile(app: App, name: string): Promise<string> {
  const path = resolve(app.context.cwd, name);
  const standing = await standingOf(path);
  const taken = await Promise.all(["/dev/stdout", "/dev/stderr"].map(identityOfFile));
  // Replacing a file that the shell writes to would lose its lines.
  if (taken.includes(standing.identity)) throw unwritable(app, name, "the command already writes it");
  const isOurs = await ownFiles(app, undefined);
  if (await isOurs(standing)) throw unwritable(app, name, "the program keeps its own data there");
  await confirmReplace(app, { flag: "--out", name, path, left: "nothing was exported" });
  return path;
}

const unwritable = (app: App, name: string, why: string): UsageError =>
  new UsageError(`cannot write --out ${app.io.visible(name)}: ${why}`, {
    param: "--out",
    hint: "Choose another file, for example --out catalogue.ndjson.",
  });
