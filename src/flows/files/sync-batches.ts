import type { Clock } from "../../clock.ts";
import type { RemovableFile } from "./output-file.ts";

/** The most files of a batch, the bytes from which none is added, and the longest wait for others in ms. */
const most = { files: 64, bytes: 8 * 1024 * 1024, ms: 200 };

export interface WaitingFile {
  readonly file: RemovableFile;
  readonly bytes: number;
}

/** The steps of a batch, in order. An error of `record` is that of all files, any other that of its file. */
interface BatchSteps<Item, Target> {
  /** Resolves when a file is on the disk; called for all of them at once. */
  sync(item: Item): Promise<void>;
  target(item: Item): Promise<Target>;
  /** Records all targets in one transaction, by which the next run finds the files of a kill. */
  record?(targets: readonly Target[]): void;
  name(item: Item, target: Target): Promise<void>;
}

interface Waiting<Item> {
  readonly file: Item;
  readonly onNamed: () => void;
  readonly onFailed: (error: unknown) => void;
}

/**
 * Files that are synced together: the disk takes hardly more time for 64 small ones than for one. A batch is
 * written when it is full, when no other file is on its way, or after 200 ms; a kill leaves two without
 * names.
 */
export class SyncBatches<Item extends WaitingFile, Target> {
  readonly #steps: BatchSteps<Item, Target>;
  readonly #waiting: Waiting<Item>[] = [];
  readonly #clock: Clock | null;
  #bytes = 0;
  #onWay = 0;
  #cancelWait: (() => void) | null = null;
  #naming: Promise<void> | null = null;
  #onRoom = (): void => {};

  /** Without a clock, no file waits for another one. */
  constructor(steps: BatchSteps<Item, Target>, clock: Clock | null = null) {
    this.#steps = steps;
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

  /** Adds a file; resolves once it has its name. One that fails is removed. */
  add(file: Item): Promise<void> {
    return new Promise((onNamed, onFailed) => {
      this.#waiting.push({ file, onNamed, onFailed });
      this.#bytes += file.bytes;
      // With those that come in the same turn of the event loop.
      if (this.#waiting.length === 1 || this.#isBatchFull) setImmediate(() => this.#nameNext());
    });
  }

  /** Resolves when another file may be added: not while one batch is written and the next one is full. */
  async room(): Promise<void> {
    while (this.#isBatchFull && this.#naming !== null)
      await new Promise<void>((resolve) => {
        const before = this.#onRoom;
        this.#onRoom = () => {
          before();
          resolve();
        };
      });
  }

  #nameNext(isWaitOver = false): void {
    if (this.#naming !== null || this.#waiting.length === 0) return;
    if (this.#clock !== null && this.#onWay > 0 && !this.#isBatchFull && !isWaitOver) {
      this.#cancelWait ??= this.#clock.at(this.#clock.now() + most.ms, () => {
        this.#cancelWait = null;
        this.#nameNext(true);
      });
      return;
    }
    this.#cancelWait?.();
    this.#cancelWait = null;
    const batch = this.#waiting.splice(0, most.files);
    this.#bytes -= batch.reduce((sum, { file }) => sum + file.bytes, 0);
    this.#naming = this.#syncAndName(batch).finally(() => {
      this.#naming = null;
      this.#nameNext();
      this.#onRoom();
      this.#onRoom = () => {};
    });
  }

  get #isBatchFull(): boolean {
    return this.#waiting.length >= most.files || this.#bytes >= most.bytes;
  }

  async #syncAndName(batch: readonly Waiting<Item>[]): Promise<void> {
    const { sync, target, record, name } = this.#steps;
    const areSynced = await Promise.all(batch.map((one) => orFailed(one, sync(one.file))));
    const placed: [Waiting<Item>, Target][] = [];
    for (const one of batch.filter((_, at) => areSynced[at]))
      await orFailed(
        one,
        target(one.file).then((at) => placed.push([one, at])),
      );
    try {
      if (placed.length > 0) record?.(placed.map(([, at]) => at));
    } catch (error) {
      await Promise.all(placed.map(([one]) => failed(one, error)));
      return;
    }
    for (const [one, at] of placed) await orFailed(one, name(one.file, at).then(one.onNamed));
  }
}

/** Whether work on a file succeeds; otherwise the file is removed. */
const orFailed = <Item extends WaitingFile>(one: Waiting<Item>, work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    (error) => failed(one, error),
  );

async function failed<Item extends WaitingFile>(
  { file, onFailed }: Waiting<Item>,
  error: unknown,
): Promise<false> {
  await file.file.remove();
  onFailed(error);
  return false;
}
