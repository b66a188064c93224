import type { Import } from "../../contract/resources/import.ts";
import type { JobFollower } from "../jobs/follow-jobs.ts";
import type { OutputTargets } from "../outputs/output-targets.ts";
import type { CheckResult } from "../rows/check.ts";
import type { RowSet } from "../rows/row-set.ts";
import type { ImportInput } from "./import-input.ts";
import type { PhotoUpload } from "./photos/refused-photos.ts";
import { ImportProgress } from "./progress.ts";
import { importFollower } from "./results/follow-imports.ts";
import type { TakeUpDeps } from "./resume/take-up-deps.ts";
import type { TakenUp } from "./resume/taken-up.ts";
import { RowsToBringIn } from "./rows-to-bring-in.ts";

/** A run whose file was found in order, and what was begun of it taken up. */
export interface FoundRun {
  input: ImportInput;
  deps: TakeUpDeps;
  targets: OutputTargets;
  check: CheckResult;
  /** Rows that the check refused, when the others were to be imported. */
  refused: RowSet;
  taken: TakenUp;
}

/** The same with what its stages share. */
export interface RunToBringIn extends FoundRun {
  /** What became of photos that this process has uploaded, by the SHA-256 (hex) of their bytes. */
  uploads: Map<string, PhotoUpload>;
  rows: RowsToBringIn;
  progress: ImportProgress;
  /** Follows the imports of accepted calls. */
  follower: JobFollower<Import>;
}

export function runToBringIn(found: FoundRun): RunToBringIn {
  const { deps, taken } = found;
  const uploads = new Map<string, PhotoUpload>();
  const progress = new ImportProgress(deps.onProgress);
  const follower = importFollower(deps.client, {
    signal: deps.signal,
    onProgress: progress.followed,
    onStatus: ({ id, status }) => taken.run.sentJobs.seen(id, status),
  });
  return { ...found, uploads, rows: new RowsToBringIn({ ...found, uploads }), progress, follower };
}
