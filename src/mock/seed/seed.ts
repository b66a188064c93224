import { decodeTime, monotonicFactory } from "ulid";
import { hash } from "../../mock-page/drawing/hash.ts";

/** The complete state of a `Random`: four words of 32 bits. */
type RandomState = [number, number, number, number];

/**
 * Reproducible random numbers (sfc32 by Chris Doty-Humphrey), identical on every machine. The state is four
 * numbers, so that a snapshot of the mock can continue exactly where it stopped.
 */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  constructor(state: RandomState) {
    [this.#a, this.#b, this.#c, this.#d] = state;
  }

  /** Starts from any text; similar texts give unrelated sequences. */
  static from(text: string): Random {
    const random = new Random([hash(text, 1), hash(text, 2), hash(text, 3), hash(text, 4)]);
    // The first few numbers still depend visibly on the start.
    for (let round = 0; round < 12; round++) random.next();
    return random;
  }

  /** The next number in [0, 1). */
  readonly next = (): number => {
    const sum = (this.#a + this.#b + this.#d) | 0;
    this.#d = (this.#d + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    this.#c |= 0;
    return (sum >>> 0) / 4_294_967_296;
  };

  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)]!;
  }

  /** Lower-case letters and digits, `length` of them. */
  text(length: number): string {
    let text = "";
    for (let at = 0; at < length; at++) text += alphabet[this.below(alphabet.length)];
    return text;
  }

  state(): RandomState {
    return [this.#a, this.#b, this.#c, this.#d];
  }
}

const alphabet = "0123456789abcdefghijklmnopqrstuvwxyz";

/** The state of the generator. `time` is null if the time part comes from the clock. */
interface IdsState {
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
    // An ID has no fractions of a millisecond. For 0, the library takes the machine's time.
    return flat(this.#ulid(this.#time === null ? Math.max(1, Math.floor(this.#now())) : this.#time++));
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
