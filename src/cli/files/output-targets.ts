import type { Stats } from "node:fs";
import { lstat, stat } from "node:fs/promises";
import { basename, extname, resolve } from "node:path";
import { numbered } from "../../flows/files/file-names.ts";
import type { CsvStyle } from "../../flows/outputs/cells.ts";
import { isCsvName, type OutputTargets } from "../../flows/outputs/results-file.ts";
import { formatOfName, type InputFormat, withoutGz } from "../../flows/rows/input-format.ts";
import type { RowFile } from "../../flows/rows/open-rows.ts";
import type { Source } from "../../flows/rows/source.ts";
import { startInBytes } from "../../text.ts";
import type { App } from "../app/app.ts";
import type { Asker } from "../app/profile-state.ts";
import { UsageError } from "../context/errors.ts";
import { type OutputFormat, outputFormat } from "../output/output-names.ts";
import { exampleFiles, type FileFlags } from "./file-flags.ts";
import { identityOfFile, ownFiles, readFilePlace, readIdentity, writablePlace } from "./places.ts";

type Named = Omit<OutputTargets["failedFile"], "mode" | "isNamed">;

interface OutputContext {
  cwd: string;
  /** The app, for the paths of the state and the texts to mask. */
  app: App;
  isPhoto: (path: string) => Promise<boolean>;
  /** The paths of files that the command reads, or that its other outputs get; completed here. */
  inUse: string[];
}

/** Failed and results files, checked before sending as they cannot be fetched again. Throws UsageError. */
export async function outputTargets(
  flags: FileFlags & {
    ledger?: string | undefined;
  },
  file: RowFile,
  place: OutputContext,
): Promise<OutputTargets> {
  const { cwd } = place;
  const { source } = file;
  const input = flags.file === "-" ? "/dev/stdin" : resolve(cwd, flags.file);
  const taken: (string | null)[] = [
    ...(await Promise.all([input, ...place.inUse].map(readIdentity))),
    // Replacing a file that stdout or stderr is redirected to would lose the summary.
    ...(await Promise.all(["/dev/stdout", "/dev/stderr"].map(identityOfFile))),
  ];
  const { mask } = place.app.secrets;
  const isOurs = await ownFiles(place.app, flags.ledger);
  const staying = place.inUse;
  staying.push(input);
  const target = async (flag: string | null, unnumbered: string): Promise<Named> => {
    const isKept = async (path: string) => {
      const found = await readFilePlace(path);
      return taken.includes(found.identity) || (await isOurs(found)) || (await place.isPhoto(path));
    };
    const name =
      flag === null ? await freeName(unnumbered, (name) => resolve(cwd, name), isKept) : unnumbered;
    const path = resolve(cwd, name);
    if (name === "")
      throw new UsageError(`${flag} is empty`, { param: flag ?? "", hint: chooseAnother(flag, "a") });
    const found = await readFilePlace(path);
    const { identity } = found;
    if (flag !== null && taken.includes(identity))
      throw unwritable(flag, name, "the command already reads or writes it");
    const target = await checkWritable(flag, path, name);
    if (flag !== null && (await place.isPhoto(path)))
      throw unwritable(flag, name, "it is a photo in the file to import");
    if (flag !== null && (await isOurs(found)))
      throw unwritable(flag, name, "the program keeps its own data there");
    taken.push(identity);
    staying.push(path);
    const isNew = target === null;
    // A file that another program creates meanwhile stays.
    if (isNew) return { path, name, mask, overwrite: flag === null ? false : "never" };
    return { path, name, mask, overwrite: flag === "--results" ? true : { staying } };
  };
  const unnamed = failedName(source.place === null ? "stdin" : flags.file, source.format);
  const failed =
    flags.failed === undefined ? await target(null, unnamed) : await target("--failed", flags.failed);
  const results = flags.results === undefined ? null : await target("--results", flags.results);
  // A file that must stay is named as such, whatever its ending.
  checkOutputNames(flags, source);
  return {
    failedFile: { ...failed, isNamed: flags.failed !== undefined, mode: await modeOfFailed(input) },
    resultsFile: results && {
      ...results,
      formulaGuard: flags.formulaGuard,
      csv: isCsvName(flags.results!) ? await resultsStyle(place.app, flags.excel, file) : undefined,
    },
  };
}

/** How CSV results are written: as for Excel, or like the input, read now as it may change later. */
export async function resultsStyle(app: Asker, excel: boolean | undefined, file: RowFile): Promise<CsvStyle> {
  const { excelStyle } = await import("../settings/csv-style.ts");
  const { styleLike } = await import("../../flows/outputs/failed-file.ts");
  const { plainCsv } = await import("../../flows/outputs/cells.ts");
  // A file that cannot be read is reported by its check.
  return (await excelStyle(app, excel)) ?? styleLike(file).catch(() => plainCsv);
}

/** Throws UsageError for a results or failed file named like another format; a dry run writes neither. */
export function checkOutputNames({ file, results, failed }: FileFlags, source: Source): void {
  if (results) outputFormat("--results", results, ["ndjson", "csv", "xlsx"]);
  if (failed) outputFormat("--failed", failed, failedFormats(file, source));
}

/** Failed rows are written like the input, and those of a table also as a workbook. */
const failedFormats = (file: string, { format }: Source): readonly [OutputFormat, ...OutputFormat[]] =>
  format === "ndjson"
    ? ["ndjson"]
    : /\.(?:tsv|tab)(?:\.gz)?$/i.test(file)
      ? ["tsv", "xlsx"]
      : ["csv", "xlsx"];

/** The mode of a new failed file: as closed as the input, whose rows it has, but writable by its owner. */
async function modeOfFailed(input: string): Promise<number> {
  const stats = await stat(input).catch(() => null);
  return stats?.isFile() ? (stats.mode & 0o666) | 0o600 : 0o666;
}

/** The first numbered name that no file has, or one that can become an earlier failed file. */
async function freeName(
  name: string,
  toPath: (name: string) => string,
  isKept: (path: string) => Promise<boolean>,
): Promise<string> {
  for (let number = 1; ; number++) {
    const candidate = numbered(name, number);
    const path = toPath(candidate);
    const stats = await lstat(path).catch(() => null);
    const isFree = stats === null || (stats.isFile() && (await writablePlace(path)).problem === null);
    if (isFree && !(await isKept(path))) return candidate;
  }
}

async function checkWritable(flag: string | null, path: string, name: string): Promise<Stats | null> {
  const { found, problem, hint } = await writablePlace(path);
  if (problem !== null) throw unwritable(flag, name, problem, hint);
  return found;
}

function unwritable(
  flag: string | null,
  name: string,
  why: string,
  hint: string = chooseAnother(flag),
): UsageError {
  const param = flag ?? "--failed";
  return new UsageError(`cannot write ${flag ?? "the failed file"} ${name}: ${why}`, { param, hint });
}

function chooseAnother(flag: string | null, article = "another"): string {
  const named = flag ?? "--failed";
  return `Choose ${article} file, for example ${named} ${exampleFiles[named]}.`;
}

/** The longest file name on common file systems, in bytes. */
const longestName = 255;

/**
 * The failed file of `products.csv` and `products.csv.gz` is `products.failed.csv`, also of a failed file of
 * it. An extension that matches the format is kept; other names get one.
 */
export function failedName(file: string, format: InputFormat): string {
  const path = withoutGz(file);
  const name = basename(path);
  const extension = formatOfName(name) === format ? extname(name) : "";
  const stem = name.slice(0, name.length - extension.length);
  // Workbooks are written in one format, whichever they are read in.
  const ending = `.failed${format === "workbook" ? ".xlsx" : extension || `.${format}`}`;
  const short = extension === "" ? stem : stem.replace(/(?<=.)\.failed(?:-\d{1,5})?(?:\.\d{1,2})?$/s, "");
  // The number that `numbered` adds must fit as well.
  const longest = longestName - ending.length - "-99999".length;
  return path.slice(0, path.length - name.length) + startInBytes(short, longest) + ending;
}
