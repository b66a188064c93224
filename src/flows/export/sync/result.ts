import { SeenTexts } from "../../../client/seen-texts.ts";
import type { Clock } from "../../../clock.ts";
import type { CatError } from "../../../errors.ts";
import type { FileFetcher } from "../../files/download-file.ts";
import type { ProgressEvent } from "../../progress-event.ts";
import { grouped } from "../../words.ts";
import type { LeftOutCount } from "../reviews.ts";
import { type MirrorEntry, toEntryKey } from "./mirror-entry.ts";

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
  /** Images of the mirror's selection that are left out by their decisions; only with a filter. */
  readonly rejected?: number;
  readonly not_reviewed?: number;
  /** Generated images that were saved without the label, because they cannot have it; only if any. */
  readonly unlabeled?: number;
  /** The first assets that failed; only if any. */
  readonly failures?: readonly SyncFailure[];
}

export type FailedAsset = Pick<MirrorEntry, "product_id" | "asset_id" | "reference">;

/** Why the file of an asset is missing or out of date. */
interface SyncFailure extends FailedAsset {
  readonly code: string;
  readonly message: string;
}

const mostFailures = 20;

export class SyncCounts {
  /** Keys of assets whose files were written, or would be in a dry run. */
  readonly added = new SeenTexts();
  readonly changed = new SeenTexts();
  renamed = 0;
  removed = 0;
  bytes = 0;
  unlabeled = 0;
  readonly failedKeys = new Set<string>();
  /** Failed assets without a file of an earlier run. */
  missing = 0;
  failures: SyncFailure[] = [];

  get failed(): number {
    return this.failedKeys.size;
  }

  /** Whether files were found missing, which only a complete read lists again. */
  hasDamaged = false;

  /** An asset failed; `hasFile`: an earlier run saved one. */
  fail(asset: FailedAsset, { code, message }: CatError, hasFile: boolean): void {
    const { product_id, asset_id, reference } = asset;
    this.failedKeys.add(toEntryKey(asset));
    if (!hasFile) this.missing++;
    if (this.failures.length < mostFailures)
      this.failures.push({ product_id, asset_id, reference, code, message });
  }

  /** A file that could not be read, and was replaced. */
  recover(key: string): void {
    if (this.failedKeys.delete(key))
      this.failures = this.failures.filter((failure) => toEntryKey(failure) !== key);
  }

  /** The summary of a run; `present` assets are in its index. */
  summary(
    present: number,
    run: Pick<SyncSummary, "run_id" | "index_file" | "duration_ms"> &
      Partial<LeftOutCount> & { isDryRun: boolean },
  ): SyncSummary {
    const { renamed, removed, failed, unlabeled, failures } = this;
    const total = present + this.missing;
    const [added, changed] = [this.added.size, this.changed.size];
    return {
      run_id: run.run_id,
      total,
      added,
      changed,
      renamed,
      removed,
      unchanged: total - added - changed - renamed - failed,
      failed,
      bytes: run.isDryRun ? null : this.bytes,
      index_file: run.index_file,
      duration_ms: run.duration_ms,
      ...(run.rejected !== undefined && { rejected: run.rejected }),
      ...(run.not_reviewed !== undefined && { not_reviewed: run.not_reviewed }),
      ...(unlabeled > 0 && { unlabeled }),
      ...(failures.length > 0 && { failures }),
    };
  }
}

/** Milliseconds between two events of one image: chunks come faster than a line is drawn. */
const everyMs = 100;

/** The progress of a run, with the size estimated from the images downloaded so far. */
export class SyncProgress {
  readonly #emit: (event: ProgressEvent) => void;
  readonly #clock: Clock;
  readonly #counts: SyncCounts;
  /** Counted images without a download: those whose files could not be checked, or are still there. */
  #without: number;
  #compared = 0;
  /** The number of images to be downloaded, as far as they were compared. */
  wanted = 0;
  #bytes = 0;
  /** FileFetcher that ended, and their bytes. */
  #ended = { count: 0, bytes: 0 };
  #hasBegun = false;
  #isListed = false;
  #shownAt = Number.NEGATIVE_INFINITY;

  constructor(counts: SyncCounts, clock: Clock, emit: (event: ProgressEvent) => void) {
    this.#counts = counts;
    this.#without = counts.failed;
    this.#clock = clock;
    this.#emit = emit;
    this.#show();
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
  of(client: FileFetcher): FileFetcher {
    return {
      downloadInto: async (target, download) => {
        let bytes = 0;
        const count = (more: number) => {
          bytes += more;
          this.#bytes += more;
        };
        count(target.kept?.bytes ?? 0);
        this.#hasBegun = true;
        const begin: typeof target.begin = (version) => {
          count(-bytes);
          return target.begin(version);
        };
        const write: typeof target.write = (chunks) => {
          for (const chunk of chunks) count(chunk.length);
          if (this.#clock.now() - this.#shownAt >= everyMs) this.#show();
          return target.write(chunks);
        };
        try {
          return await client.downloadInto({ kept: target.kept, begin, write }, download);
        } finally {
          this.#ended.count++;
          this.#ended.bytes += bytes;
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
    const handled = added.size + changed.size + failed - this.#without;
    const note = this.#isListed
      ? `${grouped(handled)} of ${grouped(this.wanted)} images`
      : `${grouped(handled)} images, ${grouped(compared)} compared`;
    this.#emit({ step: "downloading", unit: "bytes", done: this.#bytes, ...this.#total(), note });
  }

  #total(): Pick<ProgressEvent, "total" | "isEstimate"> {
    const { count, bytes } = this.#ended;
    if (!this.#isListed || count === 0) return { total: null };
    if (count >= this.wanted) return { total: bytes };
    return { total: Math.max(this.#bytes, Math.round((bytes * this.wanted) / count)), isEstimate: true };
  }
}
