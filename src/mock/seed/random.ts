/** The complete state of a `Random`: four words of 32 bits. */
export type RandomState = [number, number, number, number];

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

  /** An integer in [0, bound). */
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

/** FNV-1a with a final mix: a 32-bit hash of a text, different for every `variant`. */
export function hash(text: string, variant = 0): number {
  let value = 2_166_136_261 ^ Math.imul(variant, 2_654_435_761);
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 16_777_619);
  value = Math.imul(value ^ (value >>> 15), 2_246_822_507);
  value = Math.imul(value ^ (value >>> 13), 3_266_489_909);
  return (value ^ (value >>> 16)) | 0;
}
