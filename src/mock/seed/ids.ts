import { decodeTime, monotonicFactory } from "ulid";
import { Random, type RandomState } from "./random.ts";

/** The state of the generator. `time` is null if the time part comes from the clock. */
export interface IdsState {
  random: RandomState;
  time: number | null;
}

/** Earlier than any clock that a test is likely to set. */
const seededEpoch = Date.UTC(2024, 0, 1);
const dayMs = 86_400_000;

/**
 * Generates ULIDs in ascending order. With a seed, the time part comes from the seed and advances one
 * millisecond per ID: the same seed and the same requests give the same IDs, whenever started.
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
    // The clock may have fractions of a millisecond; an ID cannot.
    return flat(this.#ulid(this.#time === null ? Math.floor(this.#now()) : this.#time++));
  }

  /** A sequence that follows from `key` and `name` alone; its time part is that of the ID `since`. */
  derive(key: string, name: string, since: string): Ids {
    const time = this.#time === null ? null : decodeTime(since);
    return new Ids({ random: Random.from(`${key} ${name}`).state(), time }, this.#now);
  }

  state(): IdsState {
    return { random: this.#random.state(), time: this.#time };
  }
}

const idBytes = Buffer.alloc(26);

/** A flat copy of the string: the library returns a rope, which takes five times the memory. */
function flat(id: string): string {
  idBytes.write(id, "latin1");
  return idBytes.toString("latin1");
}

/** The start time of a seed, in 2024: that of its first ID, about the age of its demo products. */
export const seedStart = (random: Random): number => seededEpoch + random.below(365) * dayMs;
