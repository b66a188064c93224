import { resolve } from "node:path";
import type { App } from "../../app/app.ts";
import { UsageError } from "../../context/errors.ts";
import { confirmReplaceAll, type NamedFile } from "../../files/confirm-replace.ts";
import { ownFiles } from "../../files/own-files.ts";
import { identityOfFile, standingOf } from "../../files/places.ts";

/** A file of `--out`: its name as typed, its path, and whether a file that has the path is replaced. */
export interface OutFile {
  readonly name: string;
  readonly path: string;
  readonly replaces: boolean;
}

/**
 * Checks before any request that the file of `--out` can be written, and asks before an existing one is
 * replaced. Throws UsageError.
 */
export const checkOutFile = async (app: App, name: string, words?: OutWords): Promise<OutFile> =>
  (await checkOutFiles(app, [name], words))[0]!;

/** What an error says in addition: what has not happened, and whether `--out -` is an alternative. */
type OutWords = Pick<NamedFile, "left" | "hasStdout">;

/** The same for several files, with one question. */
export async function checkOutFiles(
  app: App,
  names: readonly string[],
  { left = "nothing was exported", hasStdout }: OutWords = {},
): Promise<readonly OutFile[]> {
  const taken = await Promise.all(["/dev/stdout", "/dev/stderr"].map(identityOfFile));
  const isOurs = await ownFiles(app, undefined);
  const files = names.map((name) => ({ name, path: resolve(app.context.cwd, name) }));
  for (const { name, path } of files) {
    const standing = await standingOf(path);
    // Replacing a file that the shell writes to would lose its lines.
    if (taken.includes(standing.identity)) throw unwritable(app, name, "the command already writes it");
    if (await isOurs(standing)) throw unwritable(app, name, "the program keeps its own data there");
  }
  const agreed = await confirmReplaceAll(
    app,
    files.map((file) => ({ ...file, flag: "--out", left, hasStdout })),
  );
  return files.map((file) => ({ ...file, replaces: agreed.has(file.path) }));
}

const unwritable = (app: App, name: string, why: string): UsageError =>
  new UsageError(`cannot write --out ${app.io.visible(name)}: ${why}`, {
    param: "--out",
    hint: "Choose another file, for example --out catalogue.ndjson.",
  });
