import { decodeTime, monotonicFactory } from "ulid";
import { Random, type RandomState } from "./random.ts";

/** Where the ids stand: enough to go on with the same ones. `time` is null where the clock gives the time part. */
export interface IdsState {
  random: RandomState;
  time: number | null;
}

/** Long enough ago that no clock a test is likely to set stands before it. */
const seededEpoch = Date.UTC(2024, 0, 1);
const dayMs = 86_400_000;

/**
 * Gives out ULIDs, each greater than the one before. With a seed, the time part comes from the seed and moves one
 * millisecond an id: same seed and same requests, same ids, whenever started.
 */
export class Ids {
  readonly #random: Random;
  readonly #ulid: (time: number) => string;
  readonly #now: () => number;
  #time: number | null;

  constructor(state: IdsState, now: () => number) {
    this.#random = new Random(state.random);
    this.#ulid = monotonicFactory(this.#random.next);
    this.#time = state.time;
    this.#now = now;
  }

  next(): string {
    // A clock may have been moved by a fraction of a millisecond, which an id cannot tell.
    return flat(this.#ulid(this.#time === null ? Math.floor(this.#now()) : this.#time++));
  }

  /**
   * A sequence of its own for `name`, which takes nothing from this one. With a seed, its ids follow from `key` and `name`
   * alone, the time part being that of `since`, an id given out before.
   */
  derive(key: string, name: string, since: string): Ids {
    const time = this.#time === null ? null : decodeTime(since);
    return new Ids({ random: Random.from(`${key} ${name}`).state(), time }, this.#now);
  }

  state(): IdsState {
    return { random: this.#random.state(), time: this.#time };
  }
}

const idBytes = Buffer.alloc(26);

/** The same text in one piece: the library's is a tree of pieces, which takes five times the memory. */
function flat(id: string): string {
  idBytes.write(id, "latin1");
  return idBytes.toString("latin1");
}

/** The moment that a seed stands for, in 2024: the time part of its first id, and near when its demo products were made. */
export const momentOf = (random: Random): number => seededEpoch + random.below(365) * dayMs;
