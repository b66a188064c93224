import { dirname, resolve } from "node:path";
import { encodingOfFailedFile } from "../../../flows/outputs/encoded-file.ts";
import { isFailureColumn } from "../../../flows/rows/header.ts";
import { formatOfName, type InputFormat } from "../../../flows/rows/source.ts";
import type { GlobalOptions } from "../../context/global-options.ts";
import { CommandWords } from "../../output/command-words.ts";
import type { ImportFlags } from "./flags.ts";

/** The format of the input, and the service it was sent to. */
export interface CommandOf {
  format: InputFormat;
  globals: Pick<GlobalOptions, "profile" | "baseUrl" | "mock">;
}

/** The command that resumes a stopped import: the same flags, except those that do not change the result. */
export function sameCommand(flags: ImportFlags, { globals }: CommandOf): string {
  const words = new CommandWords("import", flags.file);
  giveModes(words, flags);
  words.give("--format", flags.format);
  words.giveDelimiter(flags.delimiter);
  words.give("--encoding", flags.encoding);
  for (const [column, field] of flags.map) words.give("--map", `${column}=${field}`);
  words.give("--skip-invalid", flags.skipInvalid);
  words.give("--images-root", flags.imagesRoot);
  words.give("--images-outside", flags.imagesOutside);
  words.give("--ledger", flags.ledger);
  words.give("--results", flags.results);
  words.give("--failed", flags.failed);
  words.give("--no-formula-guard", !flags.formulaGuard);
  words.giveService(globals);
  return words.line;
}

/** The command that imports a failed file: the flags for reading it, and the same service. */
export function commandForFailed(
  failedFile: string,
  flags: ImportFlags,
  { format, globals }: CommandOf,
): string {
  const words = new CommandWords("import", failedFile);
  giveModes(words, flags);
  const named = formatOfName(failedFile);
  words.give("--format", named === undefined || named === format ? undefined : format);
  words.giveDelimiter(flags.delimiter);
  words.give("--encoding", encodingOfFailedFile(flags.encoding));
  // The failed file has its own columns with these names.
  for (const [column, field] of flags.map)
    if (!isFailureColumn(column)) words.give("--map", `${column}=${field}`);
  words.give("--images-root", flags.imagesRoot ?? folderOfPhotos(failedFile, flags));
  words.give("--images-outside", flags.imagesOutside);
  words.give("--ledger", flags.ledger);
  words.giveService(globals);
  return words.line;
}

/** Photos stay relative to the folder of the first file. */
function folderOfPhotos(failedFile: string, { file }: ImportFlags): string | undefined {
  if (file === "-") return dirname(failedFile) === "." ? undefined : ".";
  return resolve("/", dirname(failedFile)) === resolve("/", dirname(file)) ? undefined : dirname(file);
}

function giveModes(words: CommandWords, { mode, onImageError, photos }: ImportFlags): void {
  words.give("--mode", mode === "upsert" ? undefined : mode);
  words.give("--on-image-error", onImageError === "skip" ? undefined : onImageError);
  words.give("--photos", mode === "upsert" && photos === "all" ? photos : undefined);
}
