import type { Client } from "../../../../client/client.ts";
import type { Clock } from "../../../../clock.ts";
import type { ProgressEvent } from "../../../progress-event.ts";
import { grouped } from "../../../words.ts";
import type { SyncCounts } from "./summary.ts";

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
        // A target that has no room for the image leaves it to another one.
        let isLeft = false;
        this.#running.add(one);
        this.#hasBegun = true;
        try {
          return await client.downloadInto(
            {
              kept,
              begin: async (version) => {
                [one.bytes, one.total] = [0, version.total];
                isLeft = true;
                await target.begin(version);
                isLeft = false;
              },
              write: (chunk) => {
                one.bytes += chunk.length;
                if (this.#clock.now() - this.#shownAt >= everyMs) this.#show();
                return target.write(chunk);
              },
            },
            download,
          );
        } finally {
          this.#running.delete(one);
          if (!isLeft) this.#endedCount++;
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
