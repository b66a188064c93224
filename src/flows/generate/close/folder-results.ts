import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { csvRecords } from "../../outputs/csv-records.ts";
import { guardedCell } from "../../outputs/guarded-cell.ts";
import { OutputFile } from "../../outputs/output-file.ts";
import { type ResultRow, resultCells, resultColumns } from "./generation-result.ts";

/** The names of the two lists next to saved images. */
export const folderResults = { csv: "results.csv", ndjson: "results.ndjson" } as const;

/**
 * Writes `results.csv` and `results.ndjson` next to the images: a row per task of this command, after those of other tasks
 * that the folder lists already. The cells of the CSV that a spreadsheet
 * would run are guarded with `formulaGuard`. `writer` tells its unfinished files from those of other processes. Throws OutputError.
 */
export async function writeFolderResults(
  folder: string,
  rows: readonly ResultRow[],
  { writer, formulaGuard }: { writer: string; formulaGuard: boolean },
): Promise<void> {
  const own = new Set(rows.map(({ task_id }) => task_id));
  const earlier = (await readEarlier(join(folder, folderResults.ndjson))).filter(
    ({ task_id }) => !own.has(task_id),
  );
  const cell = formulaGuard ? guardedCell : (text: string) => text;
  const all = [...earlier, ...rows].filter(({ task_id }) => task_id !== null);
  await write(
    join(folder, folderResults.ndjson),
    `${writer}.ndjson`,
    all.map((row) => `${JSON.stringify(row)}\n`).join(""),
  );
  await write(
    join(folder, folderResults.csv),
    `${writer}.csv`,
    csvRecords([resultColumns, ...all.map((row) => resultCells(row).map(cell))]),
  );
}

async function write(path: string, unfinished: string, text: string): Promise<void> {
  const file = await OutputFile.begin(path, true, unfinished);
  try {
    await file.write(text);
    await file.commit();
  } catch (error) {
    await file.discard();
    throw error;
  }
}

/** The rows of an earlier command; a file that is not such a list has none. */
async function readEarlier(path: string): Promise<ResultRow[]> {
  const text = await readFile(path, "utf8").catch(() => "");
  return text.split("\n").flatMap((line) => {
    try {
      const row = JSON.parse(line) as ResultRow;
      return typeof row.task_id === "string" ? [row] : [];
    } catch {
      return [];
    }
  });
}
