import type { ProgressEvent } from "../progress-event.ts";
import { type CheckDeps, type CheckResult, checkFile } from "./check.ts";
import type { RowFile } from "./open-rows.ts";
import { RefusedRows } from "./row-set.ts";

export interface CollectDeps extends Pick<CheckDeps, "random" | "signal" | "onProblem"> {
  readonly onProgress: (event: ProgressEvent) => void;
}

/** Checks the complete file as the first step of a run. `refused` are its invalid rows. */
export async function checkAndCollect(
  file: RowFile,
  { random, signal, onProblem, onProgress }: CollectDeps,
): Promise<{ check: CheckResult; refused: RefusedRows }> {
  const refused = new RefusedRows();
  const check = await checkFile(file, {
    random,
    signal,
    onProblem,
    onRefused(row, isRepeated) {
      refused.add(row);
      if (isRepeated) refused.repeated.add(row);
    },
    onProgress: (done) => onProgress({ step: "checking the file", done, total: null }),
  });
  return { check, refused };
}
