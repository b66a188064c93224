import { dirname, resolve } from "node:path";
import { encodingOfFailedFile } from "../../../flows/outputs/encoded-file.ts";
import { isFailureColumn } from "../../../flows/rows/header.ts";
import { formatOfName, type InputFormat } from "../../../flows/rows/source.ts";
import type { GlobalOptions } from "../../context/global-options.ts";
import { shellWord } from "../../output/shell-word.ts";
import type { ImportFlags } from "./flags.ts";

/** How the input was read, and where it went to. */
export interface CommandOf {
  format: InputFormat;
  globals: Pick<GlobalOptions, "profile" | "baseUrl" | "mock">;
}

/** The command that goes on with an import that was stopped: as it was given, with what says what is sent. */
export function sameCommand(flags: ImportFlags, { globals }: CommandOf): string {
  const words = new Words(flags.file);
  words.giveModes(flags);
  words.give("--format", flags.format);
  words.giveDelimiter(flags);
  words.give("--encoding", flags.encoding);
  for (const [column, field] of flags.map) words.give("--map", `${column}=${field}`);
  if (flags.skipInvalid) words.add("--skip-invalid");
  words.give("--images-root", flags.imagesRoot);
  words.giveOutside(flags);
  words.give("--ledger", flags.ledger);
  words.give("--results", flags.results);
  words.give("--failed", flags.failed);
  words.giveGlobals(globals);
  return words.line;
}

/** The command that imports a failed file as this one was imported: all flags that say how to read it, and where to. */
export function commandForFailed(
  failedFile: string,
  flags: ImportFlags,
  { format, globals }: CommandOf,
): string {
  const words = new Words(failedFile);
  words.giveModes(flags);
  const named = formatOfName(failedFile);
  words.give("--format", named === undefined || named === format ? undefined : format);
  words.giveDelimiter(flags);
  words.give("--encoding", encodingOfFailedFile(flags.encoding));
  // A column called like those of a failed file is not in it under that name.
  for (const [column, field] of flags.map)
    if (!isFailureColumn(column)) words.give("--map", `${column}=${field}`);
  words.give("--images-root", flags.imagesRoot ?? folderOfPhotos(failedFile, flags));
  words.giveOutside(flags);
  words.give("--ledger", flags.ledger);
  words.giveGlobals(globals);
  return words.line;
}

/** Photos stay relative to the folder of the first file. */
function folderOfPhotos(failedFile: string, { file }: ImportFlags): string | undefined {
  if (file === "-") return dirname(failedFile) === "." ? undefined : ".";
  return resolve("/", dirname(failedFile)) === resolve("/", dirname(file)) ? undefined : dirname(file);
}

class Words {
  readonly #words: string[];

  constructor(file: string) {
    this.#words = ["cat", "import", file.startsWith("-") && file !== "-" ? `./${file}` : file];
  }

  get line(): string {
    return this.#words.map(shellWord).join(" ");
  }

  add(word: string): void {
    this.#words.push(word);
  }

  give(flag: string, value: string | undefined): void {
    if (value !== undefined) this.#words.push(flag, value);
  }

  giveModes({ mode, onImageError, photos }: ImportFlags): void {
    this.give("--mode", mode === "upsert" ? undefined : mode);
    this.give("--on-image-error", onImageError === "skip" ? undefined : onImageError);
    this.give("--photos", mode === "upsert" && photos === "all" ? photos : undefined);
  }

  giveOutside({ imagesOutside }: ImportFlags): void {
    if (imagesOutside) this.add("--images-outside");
  }

  giveDelimiter({ delimiter }: ImportFlags): void {
    this.give("--delimiter", delimiter === "\t" ? "tab" : delimiter);
  }

  giveGlobals({ profile, baseUrl, mock }: CommandOf["globals"]): void {
    this.give("--profile", profile);
    this.give("--base-url", baseUrl);
    if (mock) this.add("--mock");
  }
}
