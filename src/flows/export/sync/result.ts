import type { Client } from "../../../client/client.ts";
import type { Clock } from "../../../clock.ts";
import type { ProgressEvent } from "../../progress-event.ts";
import { grouped } from "../../words.ts";
import { keyOf } from "./mirror-entry.ts";

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
export function toFailure(
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
  readonly added = new Set<string>();
  readonly changed = new Set<string>();
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

type Downloads = Pick<Client, "downloadInto">;

interface Bytes {
  bytes: number;
  total: number | null;
}

/** Time between two events while an image is being received, in milliseconds: chunks come faster than a line is drawn. */
const everyMs = 100;

/**
 * The progress of a run, which compares and downloads images at the same time. Their number is known when all were
 * compared, and their size when all downloads have begun; until then it is estimated.
 */
export class SyncProgress {
  readonly #emit: (event: ProgressEvent) => void;
  readonly #clock: Pick<Clock, "now">;
  readonly #counts: SyncCounts;
  readonly #running = new Set<Bytes>();
  /** The bytes of downloads that ended. */
  #ended = 0;
  #endedCount = 0;
  #hasBegun = false;
  /** Counted images without a download: those whose files could not be checked, or are still there. */
  #without: number;
  #compared = 0;
  #wanted = 0;
  #isListed = false;
  #shownAt = Number.NEGATIVE_INFINITY;

  constructor(counts: SyncCounts, clock: Pick<Clock, "now">, emit: (event: ProgressEvent) => void) {
    this.#counts = counts;
    this.#without = counts.failed;
    this.#clock = clock;
    this.#emit = emit;
    this.#show();
  }

  /** An image is to be downloaded. */
  wants(): void {
    this.#wanted++;
  }

  /** The number of images to be downloaded, as far as they were compared. */
  get wanted(): number {
    return this.#wanted;
  }

  /** An image is added without a download. */
  has(): void {
    this.#without++;
  }

  /** So many more images were compared. */
  readonly compared = (count: number): void => {
    this.#compared += count;
    this.#show();
  };

  /** All images were compared. */
  listed(): void {
    this.#isListed = true;
    this.#show();
  }

  /** The same downloads, whose bytes are counted. */
  of(client: Downloads): Downloads {
    return {
      downloadInto: async (target, download) => {
        const { kept } = target;
        const one: Bytes = { bytes: kept?.bytes ?? 0, total: kept?.total ?? null };
        this.#running.add(one);
        this.#hasBegun = true;
        try {
          return await client.downloadInto(
            {
              kept,
              begin: async (version) => {
                [one.bytes, one.total] = [0, version.total];
                await target.begin(version);
              },
              write: (chunks) => {
                for (const chunk of chunks) one.bytes += chunk.length;
                if (this.#clock.now() - this.#shownAt >= everyMs) this.#show();
                return target.write(chunks);
              },
            },
            download,
          );
        } finally {
          this.#running.delete(one);
          this.#endedCount++;
          this.#ended += one.bytes;
          this.#show();
        }
      },
    };
  }

  #show(): void {
    this.#shownAt = this.#clock.now();
    const compared = this.#compared;
    const { added, changed, failed } = this.#counts;
    if (!this.#hasBegun) {
      this.#emit({ step: "comparing images", done: compared, total: null });
      return;
    }
    const done = [...this.#running].reduce((sum, { bytes }) => sum + bytes, this.#ended);
    const handled = added.size + changed.size + failed - this.#without;
    const note = this.#isListed
      ? `${grouped(handled)} of ${grouped(this.#wanted)} images`
      : `${grouped(handled)} images, ${grouped(compared)} compared`;
    this.#emit({ step: "downloading", unit: "bytes", done, ...this.#total(), note });
  }

  /** The bytes of all images; images whose size is not known yet count as the average of the others. */
  #total(): Pick<ProgressEvent, "total" | "isEstimate"> {
    const known = [...this.#running].flatMap(({ total }) => total ?? []);
    const bytes = known.reduce((sum, one) => sum + one, this.#ended);
    const count = this.#endedCount + known.length;
    const others = this.#wanted - count;
    if (!this.#isListed || count === 0) return { total: null };
    if (others <= 0) return { total: bytes };
    return { total: Math.round(bytes + (others * bytes) / count), isEstimate: true };
  }
}
