import { readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Clock } from "../../clock.ts";
import { CatError } from "../../errors.ts";
import { parseJson } from "../../json.ts";
import { lockTemporaryFile, waitForLock } from "../../state/file-lock.ts";
import { fileStart, OutputError } from "../files/disk.ts";
import { OutputFile } from "../files/output-file.ts";
import { byteOrderMark, type CsvStyle, csvRecords, plainCsv } from "../outputs/cells.ts";
import { guardedCell } from "../outputs/formulas.ts";
import { type ResultRow, resultCells, resultColumns } from "./result.ts";

/** The names of the two lists next to saved images: the CSV is made from the other one. */
export const folderResults = { csv: "results.csv", ndjson: "results.ndjson" } as const;

export interface FolderOptions {
  readonly clock: Clock;
  readonly formulaGuard: boolean;
  /** How the CSV is written (default: plain); the list of several commands follows no input. */
  readonly csv?: CsvStyle | null;
  /** How to write the lists later, for errors: `run COMMAND`. */
  readonly again: string;
}

/**
 * Writes `results.csv` and `results.ndjson` next to the images: a row per task of this command, after those
 * of other tasks that the folder lists already; an image that an earlier command has saved stays listed. The
 * lists are read and written under one lock, so that commands which save into one folder at once lose no row.
 * The cells of the CSV that a spreadsheet would run are guarded with `formulaGuard`. Throws a CatError if the
 * lists cannot be written.
 */
export async function writeFolderResults(
  folder: string,
  rows: readonly ResultRow[],
  options: FolderOptions,
): Promise<void> {
  const { clock, again } = options;
  const unlock = await waitForLock(() => lockTemporaryFile(join(folder, ".results.lock")), clock, patienceMs);
  const rejection = (name: string, code: string, what: string, hint: string) =>
    new CatError(`cannot write ${join(folder, name)}: ${what}`, { type: "output", code, hint });
  if (unlock === null)
    throw rejection(
      folderResults.csv,
      "results_busy",
      "another command is writing it",
      `To write it, ${again}.`,
    );
  try {
    const foreign = await foreignResults(folder).catch((error: NodeJS.ErrnoException) => {
      throw new OutputError(folder, error, "read", "folder");
    });
    if (foreign === null && (await addRows(folder, rows, options))) return;
    const hint = `Move it to another folder, then ${again}.`;
    const what = "another program has written it meanwhile";
    throw rejection(foreign ?? folderResults.ndjson, "results_foreign", what, hint);
  } finally {
    unlock();
  }
}

/** How long to wait for other commands that write the lists, in milliseconds. */
const patienceMs = 10_000;

/** Adds the rows of tasks to both lists; false, with the lists as they were, if a line of them is no row. */
async function addRows(
  folder: string,
  rows: readonly ResultRow[],
  { formulaGuard, csv }: FolderOptions,
): Promise<boolean> {
  // Without the rows of earlier commands the lists would lose rows.
  const path = join(folder, folderResults.ndjson);
  const text = await readFile(path, "utf8")
    .catch(noFile)
    .catch((error: NodeJS.ErrnoException) => {
      throw new OutputError(path, error, "read", "folder");
    });
  const listed = parseRows(text);
  if (listed === null) return false;
  const saved = new Map(listed.flatMap((row) => (row.file === null ? [] : [[row.task_id, row]])));
  const tasks = rows
    .filter(({ task_id }) => task_id !== null)
    .map((row) => {
      const before = row.file === null ? saved.get(row.task_id) : undefined;
      // The image is still in the folder, even if the service does not have the task anymore.
      return before === undefined ? row : { ...before, decision: row.decision, note: row.note };
    });
  const own = new Set(tasks.map(({ task_id }) => task_id));
  const others = listed.filter(({ task_id }) => task_id === null || !own.has(task_id));
  const all = [...others, ...tasks];
  const style = csv ?? plainCsv;
  const cell = formulaGuard ? guardedCell : (text: string) => text;
  await write(path, all.map((row) => `${JSON.stringify(row)}\n`).join(""));
  await write(
    join(folder, folderResults.csv),
    byteOrderMark(style) + csvRecords([resultColumns, ...all.map(resultCells)], style, cell),
  );
  return true;
}

/** The name of a list in the folder that is another file, such as the input; null for none. */
export async function foreignResults(folder: string): Promise<string | null> {
  // Opening a pipe would wait for its writer.
  for (const name of Object.values(folderResults))
    if ((await stat(join(folder, name)).catch(() => null))?.isFIFO()) return name;
  const readStart = async (name: string) => String(await fileStart(join(folder, name), 65_536).catch(noFile));
  const [csv, ndjson] = [await readStart(folderResults.csv), await readStart(folderResults.ndjson)];
  const [header, ...records] = csv.trimEnd().split("\n");
  const columns = header!.replace(/^\ufeff|\r$/g, "").split(/[;,]/);
  // Its rows are read from the other list.
  if (!isOwnHeader(columns) || (records.length > 0 && ndjson === "")) return folderResults.csv;
  return parseRows(ndjson.split("\n", 1)[0]!) === null ? folderResults.ndjson : null;
}

/** Whether these are columns of this or an earlier version; true for a new file. */
function isOwnHeader(columns: readonly string[]): boolean {
  const known = resultColumns.filter((column) => columns.includes(column));
  return columns.join() === "" || (columns.join() === known.join() && columns.includes("file"));
}

function noFile(error: NodeJS.ErrnoException): string {
  if (error.code === "ENOENT") return "";
  throw error;
}

async function write(path: string, text: string): Promise<void> {
  // One name for all, under the lock: the next command removes what a killed one left.
  const file = await OutputFile.begin(path, true, `${basename(path)}-new`);
  try {
    await file.write(text);
    await file.commit();
  } catch (error) {
    await file.discard();
    throw error;
  }
}

/** Values of the columns that rows of earlier versions lack. */
const noValues = Object.fromEntries(resultColumns.map((column) => [column, null]));

/** The rows of a list; an image that was not queued has no task. */
function parseRows(text: string): ResultRow[] | null {
  try {
    const lines = text.split("\n").filter((line) => line.trim() !== "");
    const rows = lines.map((line) => parseJson(line) as ResultRow);
    const areRows = rows.every(({ task_id }) => task_id === null || typeof task_id === "string");
    return areRows ? rows.map((row) => ({ ...noValues, ...row })) : null;
  } catch {
    return null;
  }
}
