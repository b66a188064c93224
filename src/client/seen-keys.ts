/** Words of 32 bits per digest: with 96 bits, two of a million keys are equal once in 10^17 lists. */
const words = 3;

/** A set of short texts in 24 to 48 bytes each: the IDs of a million entries take 25 MB, as strings in a `Set` over 100 MB. */
export class SeenKeys {
  /** A power of two. */
  #capacity = 256;
  /** An open hash table of digests; zeros where it is free. */
  #table = new Uint32Array(words * this.#capacity);
  #count = 0;
  readonly #digest = new Uint32Array(words);

  /** Adds a text; returns false if it was added before. */
  add(key: string): boolean {
    digestInto(this.#digest, key);
    if (!this.#put(this.#digest, 0)) return false;
    this.#count++;
    if (this.#count * 2 > this.#capacity) this.#grow();
    return true;
  }

  /** Puts the digest at a place of a list into the table; returns false if it is there. */
  #put(from: Uint32Array, at: number): boolean {
    const table = this.#table;
    const a = from[at]!;
    const b = from[at + 1]!;
    const c = from[at + 2]!;
    const last = this.#capacity - 1;
    for (let slot = a & last; ; slot = (slot + 1) & last) {
      const start = slot * words;
      if (table[start] === a && table[start + 1] === b && table[start + 2] === c) return false;
      if (table[start] !== 0 || table[start + 1] !== 0 || table[start + 2] !== 0) continue;
      table[start] = a;
      table[start + 1] = b;
      table[start + 2] = c;
      return true;
    }
  }

  #grow(): void {
    const old = this.#table;
    this.#capacity *= 2;
    this.#table = new Uint32Array(words * this.#capacity);
    for (let at = 0; at < old.length; at += words)
      if (old[at] !== 0 || old[at + 1] !== 0 || old[at + 2] !== 0) this.#put(old, at);
  }
}

/** Three products of odd numbers with all characters, mixed as the finalizer of MurmurHash3 does. */
function digestInto(digest: Uint32Array, text: string): void {
  let a = 0xdeadbeef | 0;
  let b = 0x41c6ce57;
  let c = 0x9e3779b9 | 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    a = Math.imul(a ^ code, 0x9e3779b1);
    b = Math.imul(b ^ code, 0x5f356495);
    c = Math.imul(c ^ code, 0x85ebca77);
    // The lowest bits of a product depend on the lowest bits alone.
    a ^= a >>> 15;
    b ^= b >>> 13;
    c ^= c >>> 16;
  }
  digest[0] = mixed(a ^ (b >>> 3));
  digest[1] = mixed(b ^ (c >>> 3));
  // Not zero, which is a free place.
  digest[2] = mixed(c ^ (a >>> 3)) || 1;
}

function mixed(word: number): number {
  let mix = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  mix = Math.imul(mix ^ (mix >>> 13), 0xc2b2ae35);
  return (mix ^ (mix >>> 16)) >>> 0;
}
