import { resolve } from "node:path";
import type { OutputFile } from "../../flows/files/output-file.ts";
import type { App } from "../app/app.ts";
import { newRunId } from "../app/recorded-runs.ts";
import { UsageError } from "../context/errors.ts";
import { asTyped, type OutputFormat, outputFormat } from "../output/output-names.ts";
import { confirmReplaceAll, type NamedFile } from "./confirm-replace.ts";
import { identityOfFile, ownFiles, readFilePlace, readIdentity } from "./places.ts";

/** A file to write: its name as typed, its path, and whether a file that has the path is replaced. */
export interface OutFile {
  readonly name: string;
  readonly path: string;
  readonly replaces: boolean;
}

/** The flag of the files (default: `--out`), and what errors say about it. */
interface OutOptions extends Pick<NamedFile, "left" | "hasStdout"> {
  readonly flag?: string;
  /** A file for the hint. */
  readonly example?: string;
  /** The formats of files whose name does not decide. */
  readonly formats?: readonly [OutputFormat, ...OutputFormat[]];
  readonly others?: readonly string[];
}

/** Checks before any request that the file can be written; asks before replacing one. Throws UsageError. */
export const checkOutFile = async (app: App, name: string, options?: OutOptions): Promise<OutFile> =>
  (await checkOutFiles(app, [name], options))[0]!;

/** The same for several files, with one question. */
export async function checkOutFiles(
  app: App,
  names: readonly string[],
  { flag = "--out", example = "catalogue.ndjson", formats, others = [], left, hasStdout }: OutOptions = {},
): Promise<readonly OutFile[]> {
  // Replacing a file that the shell writes to would lose its lines.
  const streams = ["/dev/stdout", "/dev/stderr"].map(identityOfFile);
  const taken = await Promise.all([...streams, ...others.map(readIdentity)]);
  const isOurs = await ownFiles(app, undefined);
  const files = names.map((name) => ({ name, path: resolve(app.context.cwd, name) }));
  for (const { name, path } of files) {
    const place = await readFilePlace(path);
    const isTaken = taken.includes(place.identity);
    if (!isTaken && !(await isOurs(place))) continue;
    const verb = others.length === 0 ? "writes" : "reads or writes";
    const why = isTaken ? `the command already ${verb} it` : "the program keeps its own data there";
    throw new UsageError(`cannot write ${asTyped(flag, app.io.visible(name))}: ${why}`, {
      param: flag,
      hint: `Choose another file, for example ${asTyped(flag, example)}.`,
    });
  }
  if (formats !== undefined) for (const { name } of files) outputFormat(flag, name, formats);
  const named = files.map((file) => ({ ...file, flag, left: left ?? "nothing was exported", hasStdout }));
  const agreed = await confirmReplaceAll(app, named);
  return files.map((file) => ({ ...file, replaces: agreed.has(file.path) }));
}

/** Begins a file that appears when it is complete. A second interrupt removes what is unfinished. */
export async function beginOutFile(
  app: App,
  { path, replaces }: OutFile,
  runId: string,
): Promise<OutputFile> {
  const { pid, isRunning, onStop } = app.context;
  const [{ OutputFile }, { unfinishedName, whereLinksLead }] = await Promise.all([
    import("../../flows/files/output-file.ts"),
    import("../../flows/files/file-names.ts"),
  ]);
  const name = await unfinishedName(await whereLinksLead(path), { pid, runId, isRunning });
  const file = await OutputFile.begin(path, replaces || "never", name);
  app.onClose(onStop(() => void file.discardAtOnce()));
  return file;
}

/** The file of `--out` of a list, after its check. Throws UsageError. */
export async function openOutFile(app: App, name: string): Promise<OutputFile> {
  const file = await checkOutFile(app, name, {
    example: "list.xlsx",
    left: "nothing was written",
    hasStdout: true,
  });
  return beginOutFile(app, file, newRunId(app.context.clock.now()));
}

/** Writes a complete file; one that fails leaves nothing behind. */
export async function writeOutFile(
  app: App,
  file: OutFile,
  content: AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>,
): Promise<void> {
  const output = await beginOutFile(app, file, newRunId(app.context.clock.now()));
  try {
    for await (const piece of content)
      await (typeof piece === "string" ? output.write(piece) : output.writeBytes(Buffer.from(piece)));
    await output.commit();
  } catch (error) {
    await output.discard();
    throw error;
  }
}
