import { hash } from "node:crypto";

/** Words of a digest that are kept: among a million texts, two have the same with a chance of 1 in 37 million. */
const words = 2;
const leastSlots = 1024;

/**
 * A set of texts that keeps only their digests: 16 to 32 bytes each instead of more than 100, because a run has names
 * and keys of all assets. SHA-256, so that no text from the catalogue can pass for another one.
 */
export class TextSet {
  /** Two words per slot; both are 0 in a free one. */
  #slots = new Uint32Array(words * leastSlots);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(text: string): boolean {
    const [first, second] = digestOf(text);
    return this.#slots[this.#slotOf(first, second)] !== 0;
  }

  /** Adds a text; false if it was there. */
  add(text: string): boolean {
    const [first, second] = digestOf(text);
    const slot = this.#slotOf(first, second);
    if (this.#slots[slot] !== 0) return false;
    this.#slots[slot] = first;
    this.#slots[slot + 1] = second;
    this.#size++;
    if (this.#size * words * 2 > this.#slots.length) this.#grow();
    return true;
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = new Uint32Array(old.length * 2);
    for (let at = 0; at < old.length; at += words) {
      if (old[at] === 0) continue;
      const slot = this.#slotOf(old[at]!, old[at + 1]!);
      this.#slots[slot] = old[at]!;
      this.#slots[slot + 1] = old[at + 1]!;
    }
  }

  /** Where a digest is, or the free slot where it belongs. */
  #slotOf(first: number, second: number): number {
    const slots = this.#slots;
    let slot = (first * words) % slots.length;
    while (slots[slot] !== 0 && (slots[slot] !== first || slots[slot + 1] !== second))
      slot = (slot + words) % slots.length;
    return slot;
  }
}

function digestOf(text: string): readonly [first: number, second: number] {
  const digest = hash("sha256", text, "binary");
  const wordAt = (at: number) =>
    ((digest.charCodeAt(at) << 24) |
      (digest.charCodeAt(at + 1) << 16) |
      (digest.charCodeAt(at + 2) << 8) |
      digest.charCodeAt(at + 3)) >>>
    0;
  // A first word of 0 marks a free slot.
  return [wordAt(0) || 1, wordAt(4)];
}
