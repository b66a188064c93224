import { decodeTime, encodeTime, TIME_LEN } from "ulid";
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

/** Crockford's base 32, in which ULIDs are written. */
const base32 = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

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
  readonly #bytes = Buffer.alloc(26);
  #last = -1;
  readonly #now: () => number;
  #time: number | null;

  constructor(state: IdsState, now: () => number) {
    this.#random = new Random(state.random);
    this.#time = state.time;
    this.#now = now;
  }

  next(): string {
    // The clock may have fractions of a millisecond; an ID cannot.
    const time = this.#time === null ? Math.floor(this.#now()) : this.#time++;
    if (time > this.#last) this.#begin(time);
    else this.#increment();
    // A flat string: the rope that a library returns takes five times the memory.
    return this.#bytes.toString("latin1");
  }

  #begin(time: number): void {
    this.#last = time;
    this.#bytes.write(encodeTime(time, TIME_LEN), "latin1");
    for (let at = this.#bytes.length - 1; at >= TIME_LEN; at--)
      this.#bytes[at] = base32.charCodeAt(this.#random.below(base32.length));
  }

  /** The next ID of the same millisecond. */
  #increment(): void {
    for (let at = this.#bytes.length - 1; ; at--) {
      const next = base32.indexOf(String.fromCharCode(this.#bytes[at]!)) + 1;
      this.#bytes[at] = base32.charCodeAt(next % base32.length);
      if (next < base32.length) return;
    }
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

/** The start time of a seed, in 2024: that of its first ID, about the age of its demo products. */
export const seedStart = (random: Random): number => seededEpoch + random.below(365) * dayMs;
