import type { Clock } from "../../clock.ts";
import type { Unnamed } from "./output-file.ts";

/** A batch has so many files at most, a file more is too much from so many bytes on, and none waits longer for others. */
const most = { files: 64, bytes: 8 * 1024 * 1024, ms: 200 };

/** A file that waits for its name. */
export interface WaitingFile<Item> {
  readonly item: Item;
  readonly file: Unnamed;
  readonly bytes: number;
  /** Called once it has its name. */
  readonly onNamed: () => void;
  readonly onFailed: (error: unknown) => void;
}

/**
 * Files that are synced together, while the next ones are downloaded: the disk takes hardly more time for 64 small files than
 * for one. A batch is written when it is full, when no other file is on its way, or after 200 ms. A kill leaves the files of
 * two batches without their names.
 */
export class SyncBatches<Item> {
  readonly #sync: (file: Unnamed) => Promise<void>;
  readonly #name: (files: readonly WaitingFile<Item>[]) => Promise<void>;
  readonly #clock: Clock;
  readonly #waiting: WaitingFile<Item>[] = [];
  #bytes = 0;
  #onWay = 0;
  #cancelWait: (() => void) | null = null;
  #naming: Promise<void> | null = null;
  #onRoom = (): void => {};

  /** `sync` resolves when a file is on the disk; `name` gives such files their names, and calls back for each. */
  constructor({
    sync,
    name,
    clock,
  }: {
    sync: (file: Unnamed) => Promise<void>;
    name: (files: readonly WaitingFile<Item>[]) => Promise<void>;
    clock: Clock;
  }) {
    this.#sync = sync;
    this.#name = name;
    this.#clock = clock;
  }

  /** Does work that may add a file: until it ends, those that wait for their names may wait for it. */
  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#onWay++;
    try {
      return await work();
    } finally {
      this.#onWay--;
      // After what takes its place.
      if (this.#onWay === 0) setImmediate(() => this.#nameNext());
    }
  }

  /** Adds a file with all its bytes; resolves once it has its name. */
  add(item: Item, file: Unnamed, bytes: number): Promise<void> {
    return new Promise((onNamed, onFailed) => {
      this.#waiting.push({ item, file, bytes, onNamed, onFailed });
      this.#bytes += bytes;
      // With those that come in the same turn of the event loop.
      if (this.#waiting.length === 1 || this.#isFull) setImmediate(() => this.#nameNext());
    });
  }

  /** Resolves when another file may be added: not while one batch is written and the next one is full. */
  async room(): Promise<void> {
    while (this.#isFull && this.#naming !== null)
      await new Promise<void>((resolve) => {
        const before = this.#onRoom;
        this.#onRoom = () => {
          before();
          resolve();
        };
      });
  }

  #nameNext(isLate = false): void {
    if (this.#naming !== null || this.#waiting.length === 0) return;
    if (this.#onWay > 0 && !this.#isFull && !isLate) {
      this.#cancelWait ??= this.#clock.at(this.#clock.now() + most.ms, () => {
        this.#cancelWait = null;
        this.#nameNext(true);
      });
      return;
    }
    this.#cancelWait?.();
    this.#cancelWait = null;
    const batch = this.#waiting.splice(0, most.files);
    this.#bytes -= batch.reduce((sum, { bytes }) => sum + bytes, 0);
    this.#naming = this.#syncAndName(batch).finally(() => {
      this.#naming = null;
      this.#nameNext();
      this.#onRoom();
      this.#onRoom = () => {};
    });
  }

  get #isFull(): boolean {
    return this.#waiting.length >= most.files || this.#bytes >= most.bytes;
  }

  async #syncAndName(batch: readonly WaitingFile<Item>[]): Promise<void> {
    const synced: WaitingFile<Item>[] = [];
    const fail = async ({ file, onFailed }: WaitingFile<Item>, error: unknown) => {
      await file.remove();
      onFailed(error);
    };
    await Promise.all(
      batch.map((waiting) =>
        this.#sync(waiting.file).then(
          () => synced.push(waiting),
          (error) => fail(waiting, error),
        ),
      ),
    );
    // One that has its name has been called back, and nothing of it is removed.
    await this.#name(synced).catch((error) => Promise.all(synced.map((waiting) => fail(waiting, error))));
  }
}
