import type { ProgressEvent } from "../../progress-event.ts";

interface Bytes {
  readonly bytes: number;
  readonly total: number | null;
}

/** The progress of jobs that are prepared by the service while the files of others are downloaded. */
export class FetchProgress {
  readonly #emit: (event: ProgressEvent) => void;
  readonly #downloads = new Map<string, Bytes>();
  #ready = 0;
  #saved = 0;
  /** The number of jobs. */
  jobs = 0;

  constructor(emit: (event: ProgressEvent) => void) {
    this.#emit = emit;
  }

  /** A job was added, has completed, or its file was saved. */
  readonly changed = ({ ready = this.#ready, saved = this.#saved }): void => {
    this.#ready = ready;
    this.#saved = saved;
    this.#show();
  };

  readonly received = (job: string, bytes: Bytes): void => {
    this.#downloads.set(job, bytes);
    this.#show();
  };

  #show(): void {
    const { jobs } = this;
    if (this.#downloads.size === 0) {
      this.#emit({ step: "preparing files", done: this.#ready, total: jobs });
      return;
    }
    const all = [...this.#downloads.values()];
    const done = all.reduce((sum, { bytes }) => sum + bytes, 0);
    // The total is known once every download has begun.
    const isKnown = all.length === jobs && all.every(({ total }) => total !== null);
    const total = isKnown ? all.reduce((sum, one) => sum + one.total!, 0) : null;
    const note = jobs > 1 ? { note: `${this.#saved} of ${jobs} files` } : {};
    this.#emit({ step: "downloading", unit: "bytes", done, total, ...note });
  }
}
