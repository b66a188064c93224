import { cellText, type Place } from "./problem.ts";

/** Rows of a file by their index, from 0. */
export interface SomeRows {
  has(row: number): boolean;
}

/** A set of rows that takes one bit per row. */
export class RowSet implements SomeRows {
  #bits = new Uint8Array(1024);
  size = 0;

  add(row: number): void {
    if (this.has(row)) return;
    while (row >= this.#bits.length * 8) this.#grow();
    this.#bits[row >> 3]! |= 1 << (row & 7);
    this.size++;
  }

  has(row: number): boolean {
    return ((this.#bits[row >> 3] ?? 0) & (1 << (row & 7))) !== 0;
  }

  #grow(): void {
    const larger = new Uint8Array(this.#bits.length * 2);
    larger.set(this.#bits);
    this.#bits = larger;
  }
}

/** The rows of a file that the check rejected. */
export class RefusedRows extends RowSet {
  /** Those among them that repeat a key of another row. */
  readonly repeated = new RowSet();
  /** Those that repeat a key of another file, by their index. */
  readonly repeatingOthers: number[] = [];
  readonly #places = new Map<number, string>();

  addRepeated(row: number, place: string | undefined): void {
    this.repeated.add(row);
    if (place !== undefined && this.#places.size < namedPlaces) this.#places.set(row, place);
  }

  /** Where the key of a repeating row was used before, in words. */
  toPlace(row: number): string {
    return this.#places.get(row) ?? unknownPlace;
  }
}

/** The place of a first use that is not known. */
export const unknownPlace = " in an earlier row";

/** The maximum number of rows that name a place: a file may have a million repetitions. */
const namedPlaces = 100_000;

/** A row that used a key first, with its cell in a workbook. */
export interface FirstUse extends Place {
  readonly line: number;
  /** The name of its file; null if it is in the file being checked. */
  readonly file: string | null;
}

/** Where a row is that used a key first, as it follows "used" or "requested". */
export const placeOfUse = ({ line, file, ...place }: FirstUse): string => {
  const cell = cellText(place);
  if (cell !== null) return ` in ${file === null ? "" : `${file}: `}${cell}`;
  return ` on line ${line}${file === null ? "" : ` of ${file}`}`;
};

/** A place that `placeOfUse` made with the name of a file, at the start of a text. */
export const startsWithPlace = /^ (?:on line \d+ of [^;]+|in (?=[^;]*: [^;])[^;]*![A-Z]+\d+)/;

/** Where the key of a line is, in a workbook. */
type PlaceOf = (line: number) => Place;

/** Remembers where each key was first used, in one or several files. */
export class FirstUses {
  readonly #seen: SeenTexts;
  /** The files so far, and the number of lines before each. */
  readonly #files: { readonly name: string; readonly before: number; readonly toPlace: PlaceOf }[] = [];
  #lines = 0;

  constructor(random: () => number) {
    this.#seen = new SeenTexts(random);
  }

  /** Starts the next file. */
  begin(name: string, toPlace: PlaceOf): void {
    this.#files.push({ name, before: this.#lines, toPlace });
  }

  /** Where the key was used before, or null; remembers a new key. */
  add(key: string, line: number): FirstUse | null {
    const { before } = this.#files.at(-1)!;
    this.#lines = Math.max(this.#lines, before + line);
    const first = this.#seen.add(key, before + line);
    if (first === null) return null;
    const file = this.#files.findLast((candidate) => candidate.before < first)!;
    const used = first - file.before;
    return { line: used, ...file.toPlace(used), file: file.before === before ? null : file.name };
  }
}

/**
 * Remembers short texts with a number each (references with their lines) in 16 bytes per entry; a million
 * strings in a Map would take over 100 MB. It keeps 96 bits of a hash with new seeds per instance: among a
 * million texts the probability of a collision is below 1e-16.
 */
export class SeenTexts {
  #slots: Uint32Array;
  #mask: number;
  #size = 0;
  readonly #seeds: readonly [number, number, number];

  constructor(random: () => number, capacity = 1024) {
    this.#slots = new Uint32Array(capacity * 4);
    this.#mask = capacity - 1;
    this.#seeds = [(random() * 2 ** 32) >>> 0, (random() * 2 ** 32) >>> 0, (random() * 2 ** 32) >>> 0];
  }

  /** The number remembered for the text, or null; remembers a new text with `number` (from 1). */
  add(text: string, number: number): number | null {
    if (this.#size * 4 > this.#mask * 3) this.#grow();
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
    const at = this.#find(finish(a), finish(b ^ a), finish(c ^ b));
    const before = this.#slots[at + 3]!;
    if (before !== 0) return before;
    this.#slots[at] = finish(a);
    this.#slots[at + 1] = finish(b ^ a);
    this.#slots[at + 2] = finish(c ^ b);
    this.#slots[at + 3] = number;
    this.#size++;
    return null;
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

function finish(hash: number): number {
  let h = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b);
  return (h ^ (h >>> 16)) >>> 0;
}
