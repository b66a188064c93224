import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { checkEncodingName, type EncodingName } from "../../flows/rows/encoding.ts";
import type { InputFormat } from "../../flows/rows/source.ts";
import { UsageError } from "../context/errors.ts";

export const formats = ["csv", "ndjson"] as const;

/** The flags of a file of rows as commander hands them over. */
export interface RawFileFlags {
  format?: string;
  delimiter?: string;
  encoding?: string;
  results?: string;
  failed?: string;
}

/** How a file of rows is read, where its results go, and the rows that failed. */
export interface FileFlags {
  /** As typed; `-` is standard input. */
  file: string;
  /** Undefined to go by the name of the file, or its content. */
  format: InputFormat | undefined;
  delimiter: string | undefined;
  encoding: EncodingName;
  results: string | undefined;
  failed: string | undefined;
}

/** Adds `--format`, `--delimiter` and `--encoding`. */
export const withInputFlags = (one: Command): Command =>
  one
    .addOption(new Option("--format <FORMAT>", "file format (default: from the file name)").choices(formats))
    .option("--delimiter <C>", "character between cells (default: recognized; tab for a tab)")
    .option("--encoding <NAME>", "encoding, e.g. windows-1252 (UTF-8 and UTF-16 are recognized)");

/** Adds `--results` and `--failed`. */
export const withOutputFlags = (one: Command): Command =>
  one
    .option("--results <FILE>", "write the result of every row, as NDJSON or, by its name, as CSV")
    .option("--failed <FILE>", "file for the rows that failed (default: FILE.failed.csv, if any)");

/** Checks what commander cannot check by itself. Throws UsageError. */
export function readFileFlags(file: string, raw: RawFileFlags, cwd: string): FileFlags {
  if (file === "") {
    throw new UsageError("FILE is empty", {
      param: "FILE",
      hint: "Choose a file, or - for standard input.",
    });
  }
  checkOutputs(file, { "--results": raw.results, "--failed": raw.failed }, cwd);
  return {
    file,
    format: raw.format as InputFormat | undefined,
    delimiter: raw.delimiter === undefined ? undefined : readDelimiter(raw.delimiter),
    encoding: raw.encoding === undefined ? undefined : checkEncodingName(raw.encoding),
    results: raw.results,
    failed: raw.failed,
  };
}

function checkOutputs(
  file: string,
  outputs: Readonly<Record<"--results" | "--failed", string | undefined>>,
  cwd: string,
): void {
  const paths = new Set<string>();
  for (const [flag, output] of Object.entries(outputs)) {
    if (output === undefined) continue;
    if (output === "-") {
      throw new UsageError(`${flag} -: standard output is for the summary`, {
        param: flag,
        hint: `Choose a file, for example ${flag} rows.csv.`,
      });
    }
    const path = resolve(cwd, output);
    if (file !== "-" && path === resolve(cwd, file)) {
      throw new UsageError(`${flag} ${output} is the input file itself`, {
        param: flag,
        hint: "Choose another file.",
      });
    }
    if (paths.has(path)) {
      throw new UsageError("--results and --failed name the same file", { hint: "Choose two files." });
    }
    paths.add(path);
  }
}

function readDelimiter(text: string): string {
  const named = text === "tab" || text === "\\t" ? "\t" : text;
  if ([...named].length === 1 && !/["\r\n]/.test(named)) return named;
  throw new UsageError(`--delimiter ${JSON.stringify(text)}: it must be one character`, {
    param: "--delimiter",
    hint: 'Use ",", ";", "|" or tab.',
  });
}
