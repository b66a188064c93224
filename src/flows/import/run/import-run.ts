// The run: what the stages of an import share.

import type { Import } from "../../../contract/resources/import.ts";
import type { JobFollower } from "../../jobs/follow-jobs.ts";
import type { OutputTargets } from "../../outputs/output-targets.ts";
import type { PhotoUpload } from "../../photos/upload-photos.ts";
import type { CheckResult } from "../../rows/check.ts";
import type { RowSet } from "../../rows/row-set.ts";
import { importFollower } from "../results/follow-imports.ts";
import type { ImportJob } from "./import-job.ts";
import { ImportProgress } from "./progress.ts";
import { RowsToBringIn } from "./rows-to-bring-in.ts";
import type { TakenUp } from "./taken-up.ts";

/** A run whose file passed the check, with the progress of earlier attempts loaded. */
export interface LoadedRun extends ImportJob {
  /** Of at least 0 and less than 1. */
  readonly random: () => number;
  /** How many writes per minute the service allows (Limits), for an estimate; Infinity where it sets no limit. */
  readonly writesPerMinute: number;
  readonly targets: OutputTargets;
  readonly check: CheckResult;
  /** Rows that the check rejected, when the others are to be imported. */
  readonly refused: RowSet;
  readonly taken: TakenUp;
}

/** The same with what its stages share. */
export interface ImportRun extends LoadedRun {
  /** The outcome of photos that this process has uploaded, by the SHA-256 (hex) of their bytes. */
  readonly uploads: Map<string, PhotoUpload>;
  readonly rows: RowsToBringIn;
  readonly progress: ImportProgress;
  /** Follows the imports of accepted batches. */
  readonly follower: JobFollower<Import>;
}

export function importRun(loaded: LoadedRun): ImportRun {
  const { input, service, reporter, refused, taken } = loaded;
  const uploads = new Map<string, PhotoUpload>();
  const progress = new ImportProgress(reporter.onProgress);
  const follower = importFollower(service.client, {
    signal: service.signal,
    onProgress: progress.followed,
    onStatus: ({ id, status }) => taken.run.sentJobs.seen(id, status),
  });
  const rows = new RowsToBringIn({ input, refused, taken, uploads });
  return { ...loaded, uploads, rows, progress, follower };
}
