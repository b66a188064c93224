import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { checkEncodingName, type EncodingName } from "../../flows/rows/encoding.ts";
import type { InputFormat } from "../../flows/rows/input-format.ts";
import { UsageError } from "../context/errors.ts";
import { withCsvFlags } from "../flags/common-flags.ts";
import { several, wholeNumber } from "../flags/values.ts";

export const formats = ["csv", "ndjson", "xlsx", "ods"] as const;

export const exampleFiles: Readonly<Record<string, string>> = {
  "--results": "results.csv",
  "--failed": "failed.csv",
};

export interface RawFileFlags {
  format?: (typeof formats)[number];
  sheet?: string;
  hidden?: "read" | "skip";
  delimiter?: string;
  encoding?: string;
  limit?: number;
  results?: string;
  failed?: string;
  report?: string[];
  formulaGuard?: boolean;
  excel?: boolean;
  /** The file to write a template to; true for the default name. */
  template?: string | true;
}

/** How to read a file of rows, and the paths of its results file and failed file. */
export interface FileFlags {
  /** The path as typed; `-` is standard input. */
  file: string;
  /** Undefined to detect it from the name or the content of the file. */
  format: InputFormat | undefined;
  /** The name of the sheet of a workbook; undefined to find it by its header. */
  sheet: string | undefined;
  skipsHidden: boolean;
  delimiter: string | undefined;
  encoding: EncodingName;
  /** The number of rows that are checked and sent; undefined for all. */
  limit: number | undefined;
  results: string | undefined;
  failed: string | undefined;
  /** The reports for CI. */
  report: readonly string[];
  /** Whether cells of the results that a spreadsheet would run are guarded. */
  formulaGuard: boolean;
  /** Whether CSV results are written for Excel; undefined as the profile says. */
  excel: boolean | undefined;
}

export const withInputFlags = (command: Command): Command =>
  command
    .addOption(
      new Option("--format <FORMAT>", "file format").choices(formats).default(undefined, "from the file"),
    )
    .option("--sheet <NAME>", "sheet of a workbook (default: the one whose columns fit)")
    .addOption(
      new Option("--hidden <CHOICE>", "hidden rows of a sheet").choices(["read", "skip"]).default("read"),
    )
    .option("--delimiter <C>", 'column separator: ",", ";", "|" or tab (default: detected)')
    .option("--encoding <NAME>", "text encoding, e.g. windows-1252 (default: detects UTF-8 and UTF-16)")
    .option(
      "--limit <N>",
      "take only the first N rows; the same command without it resumes",
      wholeNumber({ min: 1 }),
    );

export const withTemplateFlag = (command: Command, example: string): Command =>
  command.option("--template [FILE]", `write a sheet to begin with, as .xlsx or .csv (default: ${example})`);

/** The file of `--template`; null without it. Throws UsageError if the command reads a file too. */
export function readTemplateFlag(raw: RawFileFlags, file: string | undefined): string | true | null {
  const { template, delimiter, encoding } = raw;
  for (const [flag, value] of Object.entries({ delimiter, encoding }))
    if (template !== undefined && value !== undefined)
      throw new UsageError(`--${flag} cannot be combined with --template`, {
        param: `--${flag}`,
        hint: `Remove --${flag}. --excel writes the CSV that Excel of your country opens.`,
      });
  if (template === undefined || file === undefined) return template ?? null;
  throw new UsageError("--template cannot be combined with a file to read", {
    param: "--template",
    hint: "Remove one of them. --template FILE writes FILE.",
  });
}

export const withOutputFlags = (command: Command): Command =>
  withCsvFlags(
    command
      .option("--results <FILE>", "file for the result of every row (.csv, .xlsx, else NDJSON)")
      .option("--failed <FILE>", "file for failed and partial rows (default: NAME.failed.csv, or .xlsx)")
      .option(
        "--report <FILE>",
        "report for CI: .json for GitLab Code Quality, .xml for JUnit (repeatable)",
        several,
      ),
  );

/** Makes the checks that commander cannot make. Throws UsageError. */
export function readFileFlags(file: string, raw: RawFileFlags, cwd: string): FileFlags {
  if (file === "") {
    throw new UsageError("the file name is empty", {
      param: "FILE",
      hint: "Choose a file, or - for standard input.",
    });
  }
  checkOutputs(file, { "--results": raw.results, "--failed": raw.failed }, cwd);
  return {
    file,
    format: raw.format === "xlsx" || raw.format === "ods" ? "workbook" : raw.format,
    sheet: raw.sheet,
    skipsHidden: raw.hidden === "skip",
    delimiter: raw.delimiter === undefined ? undefined : readDelimiter(raw.delimiter),
    encoding: raw.encoding === undefined ? undefined : checkEncodingName(raw.encoding),
    limit: raw.limit,
    results: raw.results,
    failed: raw.failed,
    report: raw.report ?? [],
    formulaGuard: raw.formulaGuard ?? true,
    excel: raw.excel,
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
      throw new UsageError(`cannot use ${flag} -: standard output is for the summary`, {
        param: flag,
        hint: `Choose a file, for example ${flag} ${exampleFiles[flag]}.`,
      });
    }
    const path = resolve(cwd, output);
    if (file !== "-" && path === resolve(cwd, file)) {
      throw new UsageError(`cannot write ${flag} ${output}: it is the input file`, {
        param: flag,
        hint: `Choose another file, for example ${flag} ${exampleFiles[flag]}.`,
      });
    }
    if (paths.has(path)) {
      throw new UsageError("--results and --failed use the same file", {
        hint: "Choose two different files.",
      });
    }
    paths.add(path);
  }
}

/** The character of `--delimiter`. Throws UsageError. */
export function readDelimiter(text: string): string {
  const named = text === "tab" || text === "\\t" ? "\t" : text;
  if ([...named].length === 1 && !/["\r\n]/.test(named)) return named;
  throw new UsageError(`invalid --delimiter ${JSON.stringify(text)}: use a single character`, {
    param: "--delimiter",
    hint: 'Common delimiters are ",", ";", "|" and tab (--delimiter tab).',
  });
}
