/**
 * Remembers short texts with a number each (IDs of a list, references with their lines) in 16 bytes per
 * entry; a million strings in a Map would take over 100 MB. It keeps 96 bits of a hash with new seeds per
 * instance: among a million texts the probability of a collision is below 1e-16.
 */
export class SeenTexts {
  #slots: Uint32Array;
  #mask: number;
  /** The number of different texts. */
  size = 0;
  readonly #hash = new Uint32Array(3);
  readonly #seeds: readonly [number, number, number];

  constructor(random: () => number = newSeed, capacity = 1024) {
    this.#slots = new Uint32Array(capacity * 4);
    this.#mask = capacity - 1;
    this.#seeds = [(random() * 2 ** 32) >>> 0, (random() * 2 ** 32) >>> 0, (random() * 2 ** 32) >>> 0];
  }

  /** The number remembered for the text, or null; remembers a new text with `number` (from 1). */
  add(text: string, number: number): number | null {
    if (this.size * 4 > this.#mask * 3) this.#grow();
    const at = this.#slotOf(text);
    const before = this.#slots[at + 3]!;
    if (before !== 0) return before;
    this.#slots.set(this.#hash, at);
    this.#slots[at + 3] = number;
    this.size++;
    return null;
  }

  has(text: string): boolean {
    return this.#slots[this.#slotOf(text) + 3] !== 0;
  }

  /** The slot of a text, whose hash is kept until the next one. */
  #slotOf(text: string): number {
    let [a, b, c] = this.#seeds;
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      a = Math.imul(a ^ unit, 0x85ebca6b);
      a ^= a >>> 15;
      b = Math.imul(b ^ unit, 0xc2b2ae35);
      b ^= b >>> 13;
      c = Math.imul(c ^ unit, 0x27d4eb2f);
      c ^= c >>> 14;
    }
    this.#hash[0] = finish(a);
    this.#hash[1] = finish(b ^ a);
    this.#hash[2] = finish(c ^ b);
    return this.#find(this.#hash[0], this.#hash[1], this.#hash[2]);
  }

  /** The slot that holds the hash, or the free slot for it. */
  #find(a: number, b: number, c: number): number {
    const slots = this.#slots;
    let entry = a & this.#mask;
    for (;;) {
      const at = entry * 4;
      if (slots[at + 3] === 0) return at;
      if (slots[at] === a && slots[at + 1] === b && slots[at + 2] === c) return at;
      entry = (entry + 1) & this.#mask;
    }
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = new Uint32Array(old.length * 2);
    this.#mask = this.#slots.length / 4 - 1;
    for (let at = 0; at < old.length; at += 4) {
      if (old[at + 3] !== 0)
        this.#slots.set(old.subarray(at, at + 4), this.#find(old[at]!, old[at + 1]!, old[at + 2]!));
    }
  }
}

/** Not that of the HTTP core, whose files the check of a sheet does not load. */
const newSeed = (): number => crypto.getRandomValues(new Uint32Array(1))[0]! / 2 ** 32;

function finish(hash: number): number {
  let h = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b);
  return (h ^ (h >>> 16)) >>> 0;
}
