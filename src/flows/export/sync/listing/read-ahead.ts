import type { WantedAsset } from "./wanted-asset.ts";

/** The number of images that wait for their download: enough to know early how many there are, and a few MB. */
const mostWaiting = 3_000;

/** Images that wait for their download, while the next ones are compared. */
export class ReadAhead {
  readonly #start: (wanted: WantedAsset) => Promise<void>;
  readonly #most: number;
  readonly #waiting: WantedAsset[] = [];
  #starting: Promise<void> | null = null;
  #roomFor = () => {};
  #ended: { readonly reason: unknown } | null = null;

  /** `start` resolves when a download has started, and throws what ended the run. */
  constructor(start: (wanted: WantedAsset) => Promise<void>, most = mostWaiting) {
    this.#start = start;
    this.#most = most;
  }

  /** Adds an image; resolves when there is room for another one. Throws what ended the run. */
  async add(wanted: WantedAsset): Promise<void> {
    if (this.#ended !== null) throw this.#ended.reason;
    this.#waiting.push(wanted);
    this.#starting ??= this.#startAll();
    if (this.#waiting.length < this.#most) return;
    await new Promise<void>((resolve) => {
      this.#roomFor = resolve;
    });
    if (this.#ended !== null) throw (this.#ended as { reason: unknown }).reason;
  }

  /** Resolves when every download has started. Throws what ended the run. */
  async started(): Promise<void> {
    await this.#starting;
    if (this.#ended !== null) throw this.#ended.reason;
  }

  async #startAll(): Promise<void> {
    try {
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
        this.#roomFor();
        await this.#start(next);
      }
    } catch (reason) {
      this.#ended = { reason };
      this.#roomFor();
    }
    this.#starting = null;
  }
}
