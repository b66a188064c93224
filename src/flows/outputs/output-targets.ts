import { extname } from "node:path";
import type { Overwrite } from "../files/output-file.ts";
import type { CsvStyle } from "./cells.ts";

/** A file to write: its path, and its name in messages. */
export interface OutputTarget {
  path: string;
  name: string;
  /** What happens to a file that has the path (default: it is replaced). */
  overwrite?: Overwrite | undefined;
  /** Masks secrets in the service's texts, which may repeat the API key. */
  mask?: ((text: string) => string) | undefined;
  /** Whether cells of a results file that a spreadsheet would run are guarded (default: true). */
  formulaGuard?: boolean | undefined;
  /** How a results file is written, if it is CSV (default: plain CSV). */
  csv?: CsvStyle | undefined;
}

/** The files of a run. */
export interface OutputTargets {
  /** For the failed rows; a default name is never overwritten. `mode` applies to a new file. */
  failedFile: OutputTarget & { overwrite: Overwrite; mode?: number };
  resultsFile: OutputTarget | null;
}

/** Whether a results file of that name is CSV. */
export const isCsvName = (path: string): boolean => extname(path).toLowerCase() === ".csv";
