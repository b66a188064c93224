import { keyOf } from "../index/mirror-entry.ts";
import { TextSet } from "../index/text-set.ts";

/** The result of a run, as `--json` prints it. The asset counts exclude each other. */
export interface SyncSummary {
  readonly run_id: string;
  /** The assets of the selection: added, changed, renamed, unchanged and failed ones. */
  readonly total: number;
  readonly added: number;
  readonly changed: number;
  readonly renamed: number;
  /** Assets that the catalogue no longer has; with `--delete`, deleted files. */
  readonly removed: number;
  readonly unchanged: number;
  readonly failed: number;
  /** Downloaded bytes; null in a dry run. */
  readonly bytes: number | null;
  readonly index_file: string;
  readonly duration_ms: number;
  /** The first assets that failed; only if any. */
  readonly failures?: readonly SyncFailure[];
}

/** Why the file of an asset is missing or out of date. */
export interface SyncFailure {
  readonly product_id: string;
  readonly asset_id: string;
  readonly reference: string | null;
  readonly code: string;
  readonly message: string;
}

/** The failure of an asset, with what stopped it. */
export function failureOf(
  { product_id, asset_id, reference }: Pick<SyncFailure, "product_id" | "asset_id" | "reference">,
  { code, message }: Pick<SyncFailure, "code" | "message">,
): SyncFailure {
  return { product_id, asset_id, reference, code, message };
}

/** The maximum number of failures in a summary. */
const mostFailures = 20;

/** Counts the assets of a run. */
export class SyncCounts {
  /** Keys of assets whose files were written, or would be in a dry run. */
  readonly added = new TextSet();
  readonly changed = new TextSet();
  renamed = 0;
  removed = 0;
  bytes = 0;
  readonly failedKeys = new Set<string>();
  /** Failed assets without a file of an earlier run. */
  missing = 0;
  failures: SyncFailure[] = [];

  get failed(): number {
    return this.failedKeys.size;
  }

  /** Whether files were found missing, which only a complete read lists again. */
  hasDamaged = false;

  /** A file of an earlier run that is missing. */
  failMissing(failure: SyncFailure): void {
    this.hasDamaged = true;
    this.fail(failure, true);
  }

  fail(failure: SyncFailure, hasFile: boolean): void {
    this.failedKeys.add(keyOf(failure));
    if (!hasFile) this.missing++;
    if (this.failures.length < mostFailures) this.failures.push(failure);
  }

  /** A file that could not be read, and was replaced. */
  recover(key: string): void {
    if (this.failedKeys.delete(key)) this.failures = this.failures.filter((one) => keyOf(one) !== key);
  }

  summary(of: {
    runId: string;
    present: number;
    isDryRun: boolean;
    indexFile: string;
    durationMs: number;
  }): SyncSummary {
    const { renamed, removed, failed, failures } = this;
    const total = of.present + this.missing;
    const [added, changed] = [this.added.size, this.changed.size];
    return {
      run_id: of.runId,
      ...{ total, added, changed, renamed, removed },
      unchanged: total - added - changed - renamed - failed,
      failed,
      bytes: of.isDryRun ? null : this.bytes,
      index_file: of.indexFile,
      duration_ms: of.durationMs,
      ...(failures.length > 0 && { failures }),
    };
  }
}
