/** The whole state of a `Random`: four words of 32 bits. */
export type RandomState = [number, number, number, number];

/**
 * Reproducible randomness (sfc32 by Chris Doty-Humphrey): the same start gives the same numbers on every machine, and its
 * state is four numbers, so that a snapshot of the mock can go on exactly where it stopped.
 */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  constructor(state: RandomState) {
    [this.#a, this.#b, this.#c, this.#d] = state;
  }

  /** Starts from any text; texts that differ in one character start far apart. */
  static from(text: string): Random {
    const random = new Random([hash(text, 1), hash(text, 2), hash(text, 3), hash(text, 4)]);
    // The first few numbers still show the start.
    for (let round = 0; round < 12; round++) random.next();
    return random;
  }

  /** The next number, at least 0 and below 1. */
  readonly next = (): number => {
    const sum = (this.#a + this.#b + this.#d) | 0;
    this.#d = (this.#d + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    this.#c |= 0;
    return (sum >>> 0) / 4_294_967_296;
  };

  /** A whole number, at least 0 and below `bound`. */
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

/** FNV-1a with a stir at the end: 32 bits of a text, another 32 for every `variant`. */
export function hash(text: string, variant = 0): number {
  let value = 2_166_136_261 ^ Math.imul(variant, 2_654_435_761);
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 16_777_619);
  value = Math.imul(value ^ (value >>> 15), 2_246_822_507);
  value = Math.imul(value ^ (value >>> 13), 3_266_489_909);
  return (value ^ (value >>> 16)) | 0;
}
