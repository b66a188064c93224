import type { Clock } from "../../clock.ts";
import type { Unnamed } from "./output-file.ts";

/** A batch has so many files or bytes at most, and waits so long for more, in milliseconds. */
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
 * for one. A kill leaves the files of one batch without their names, and of another one that it has begun.
 */
export class SyncBatches<Item> {
  readonly #clock: Clock;
  readonly #sync: (file: Unnamed) => Promise<void>;
  readonly #name: (files: readonly WaitingFile<Item>[]) => Promise<void>;
  readonly #waiting: WaitingFile<Item>[] = [];
  #bytes = 0;
  #timer: AbortController | null = null;
  #naming: Promise<void> | null = null;
  /** Whether nothing else comes for the files that wait. */
  #isLast = false;
  #onRoom = (): void => {};

  /** `sync` resolves when a file is on the disk; `name` gives such files their names, and calls back for each. */
  constructor(
    clock: Clock,
    {
      sync,
      name,
    }: {
      sync: (file: Unnamed) => Promise<void>;
      name: (files: readonly WaitingFile<Item>[]) => Promise<void>;
    },
  ) {
    this.#clock = clock;
    this.#sync = sync;
    this.#name = name;
  }

  /** Adds a file with all its bytes; resolves once it has its name. */
  add(item: Item, file: Unnamed, bytes: number): Promise<void> {
    return new Promise((onNamed, onFailed) => {
      this.#waiting.push({ item, file, bytes, onNamed, onFailed });
      this.#bytes += bytes;
      this.#isLast = false;
      if (this.#isFull) this.flush();
      else if (this.#waiting.length === 1) this.#flushLater();
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

  /** Names the files that wait, as soon as the batch before has its names. */
  flush(): void {
    this.#isLast = true;
    if (this.#naming !== null || this.#waiting.length === 0) return;
    const batch = this.#waiting.splice(0, most.files);
    this.#bytes -= batch.reduce((sum, { bytes }) => sum + bytes, 0);
    this.#timer?.abort();
    this.#naming = this.#syncAndName(batch).finally(() => {
      this.#naming = null;
      if (this.#isFull || this.#isLast) this.flush();
      else if (this.#waiting.length > 0) this.#flushLater();
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

  #flushLater(): void {
    const timer = new AbortController();
    this.#timer = timer;
    this.#clock.sleep(most.ms, timer.signal).then(
      () => this.flush(),
      () => {},
    );
  }
}
