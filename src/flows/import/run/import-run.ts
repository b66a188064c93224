// The run: input, options and state that the stages of an import share.

import type { Import } from "../../../contract/resources/import.ts";
import type { OutputTargets } from "../../outputs/output-targets.ts";
import type { PhotoUpload } from "../../photos/upload-photos.ts";
import type { CheckResult } from "../../rows/check.ts";
import type { RefusedRows } from "../../rows/row-set.ts";
import type { JobFollower } from "../../run/follow.ts";
import { HeldPhotos } from "../ledger/held-photos.ts";
import { importFollower } from "../results/follow-imports.ts";
import type { ImportJob } from "./import-job.ts";
import { ImportProgress } from "./progress.ts";
import type { ResumedRun } from "./resumed-run.ts";
import { RowsToImport } from "./rows-to-import.ts";

/** A run whose file passed the check, with the progress of earlier attempts loaded. */
export interface LoadedRun extends ImportJob {
  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number;
  /** Writes per minute that the service allows (Limits), for an estimate; Infinity without a limit. */
  readonly writesPerMinute: number;
  readonly targets: OutputTargets;
  readonly check: CheckResult;
  /** Rows that the check rejected; not empty only with --skip-invalid. */
  readonly refused: RefusedRows;
  readonly resumed: ResumedRun;
}

/** A loaded run with the state that its stages share. */
export interface ImportRun extends LoadedRun {
  /** Outcomes of photos uploaded by this process, by the SHA-256 (hex) of their bytes. */
  readonly uploads: Map<string, PhotoUpload>;
  readonly held: HeldPhotos;
  readonly rows: RowsToImport;
  readonly progress: ImportProgress;
  /** Follows the imports of accepted batches. */
  readonly follower: JobFollower<Import>;
}

export function importRun(loaded: LoadedRun): ImportRun {
  const { input, service, reporter, refused, resumed } = loaded;
  const uploads = new Map<string, PhotoUpload>();
  const progress = new ImportProgress(reporter.onProgress);
  const follower = importFollower(service.client, {
    signal: service.signal,
    onProgress: progress.followed,
    onStatus: ({ id, status }) => resumed.run.sentJobs.seen(id, status),
  });
  const held = new HeldPhotos();
  const rows = new RowsToImport({ input, refused, resumed, held, uploads });
  return { ...loaded, held, uploads, rows, progress, follower };
}
