// One photo on two products of a file is often a mistake of a formula that was filled down: the same URL, or files with the
// same bytes.

import type { LocalPhotos } from "../photos/local-photos.ts";
import type { PhotoUrls } from "../photos/photo-urls.ts";
import type { InputRow, NotesAcrossRows } from "../rows/row-form.ts";

type Photos = Pick<LocalPhotos, "sizeOf" | "digest">;

/** A photo of a row. */
interface Use {
  readonly row: InputRow;
  /** The index of the row. */
  readonly at: number;
  /** The index of the photo in the row. */
  readonly image: number;
  readonly part: "url" | "path";
}

/** Finds photos that an earlier row has as well. `photos`: reads local files; `checked`: knows the bytes behind URLs. */
export function sharedPhotos(
  random: () => number,
  photos: Photos,
  checked?: Pick<PhotoUrls, "found">,
): NotesAcrossRows {
  const locals: Use[] = [];
  let count = 0;
  // The bytes of local files are known at the end only.
  let first: Use | undefined;
  const found = (use: Use) => {
    count++;
    if (first === undefined || use.at < first.at) first = use;
  };
  const urls = new SeenUrls(random, found);
  return {
    add(row, at) {
      const images = imagesOf(row);
      for (let image = 0; image < images.length; image++) {
        const { url, path } = images[image] ?? {};
        if (typeof path === "string") locals.push({ row, at, image, part: "path" });
        // Equal URLs have equal bytes.
        if (typeof url === "string") urls.add(checked?.found(url)?.content ?? url, row, at, image);
      }
    },

    async end() {
      urls.find();
      const bySize = new Map<number, Use[]>();
      for (const use of locals) {
        const size = await photos.sizeOf(textOf(use));
        if (size === null) continue;
        const alike = bySize.get(size);
        if (alike === undefined) bySize.set(size, [use]);
        else alike.push(use);
      }
      // Nearly all files differ in size, and are not read.
      for (const alike of bySize.values())
        if (alike.length > 1) for (const use of await equalOf(alike, photos)) found(use);
      if (first === undefined) return [];
      const { row, image, part } = first;
      const note = { code: "same_photo", param: `images[${image}].${part}`, value: textOf(first) } as const;
      return [{ row, note, count }];
    },
  };
}

type Images = readonly (Readonly<Record<string, unknown>> | null)[];

function imagesOf({ content }: InputRow): Images {
  const { images } = content as { images?: unknown };
  return Array.isArray(images) ? images : [];
}

const textOf = ({ row, image, part }: Use): string => imagesOf(row)[image]![part] as string;

/** Those whose bytes an earlier row has. */
async function equalOf(alike: readonly Use[], photos: Photos): Promise<Use[]> {
  const rows = new Map<string, number>();
  const equal: Use[] = [];
  for (const use of alike) {
    const digest = await photos.digest(textOf(use));
    const earlier = rows.get(digest);
    if (earlier === undefined) rows.set(digest, use.at);
    else if (earlier !== use.at) equal.push(use);
  }
  return equal;
}

/** How much of a row's number is kept: another row has the same part too rarely to matter. */
const rowBits = 0x7ff;

/** Entries that are looked up together: the memory of one is fetched while others are compared. */
const batchSize = 256;

/**
 * URLs with the rows that have them, in 8 bytes per entry: a file may have a million. It keeps 53 bits of a hash, so that of a
 * million URLs two are taken for one another once in 20,000 files.
 */
class SeenUrls {
  #slots = new Uint32Array(2048);
  #size = 0;
  readonly #seed: number;
  readonly #onRepeated: (use: Use) => void;
  /** Uses that are not looked up yet, with both parts of their hashes. */
  #waiting = 0;
  readonly #rows: InputRow[] = [];
  readonly #indexes = new Uint32Array(batchSize);
  readonly #images = new Uint8Array(batchSize);
  readonly #places = new Uint32Array(batchSize);
  readonly #rests = new Uint32Array(batchSize);

  /** `onRepeated`: gets each use but the first one, unless that is in the same row. */
  constructor(random: () => number, onRepeated: (use: Use) => void) {
    this.#seed = (random() * 2 ** 32) | 0;
    this.#onRepeated = onRepeated;
  }

  /** Remembers the use of a photo, which is known by its URL or by its bytes. */
  add(text: string, row: InputRow, index: number, image: number): void {
    let a = this.#seed;
    let b = text.length;
    // Two units at a time, after https://, and a last round in which both halves meet.
    for (let at = text[7] === "/" ? 8 : 0; at < text.length - 1; at += 2) {
      a = Math.imul(a ^ text.charCodeAt(at) ^ (b >>> 13), 0x85ebca6b);
      b = Math.imul(b ^ text.charCodeAt(at + 1) ^ (a >>> 15), 0x01000193);
    }
    a = Math.imul(a ^ b ^ (b >>> 16) ^ text.charCodeAt(text.length - 1), 0x7feb352d);
    b ^= a >>> 15;
    const at = this.#waiting++;
    this.#rows[at] = row;
    this.#indexes[at] = index;
    this.#images[at] = image;
    this.#places[at] = a ^ (a >>> 15);
    this.#rests[at] = Math.imul(b ^ (b >>> 15), 0x7feb352d) & ~rowBits;
    if (this.#waiting === batchSize) this.find();
  }

  /** Looks up what was added. */
  find(): void {
    while ((this.#size + this.#waiting) * 3 > this.#slots.length) this.#grow();
    const slots = this.#slots;
    for (let at = 0; at < this.#waiting; at++) {
      const slot = this.#find(this.#places[at]!, this.#rests[at]!);
      const bits = (this.#indexes[at]! + 1) & rowBits;
      const known = slots[slot + 1]!;
      if (known === 0) {
        slots[slot] = this.#places[at]!;
        // Never 0, which is a free slot.
        slots[slot + 1] = this.#rests[at]! | bits || rowBits;
        this.#size++;
      } else if ((known & rowBits) !== bits)
        this.#onRepeated({
          row: this.#rows[at]!,
          at: this.#indexes[at]!,
          image: this.#images[at]!,
          part: "url",
        });
    }
    this.#waiting = 0;
  }

  /** The slot with the hash, or a free one for it. */
  #find(place: number, rest: number): number {
    const slots = this.#slots;
    const mask = slots.length / 2 - 1;
    for (let entry = place & mask; ; entry = (entry + 1) & mask) {
      const known = slots[entry * 2 + 1]!;
      if (known === 0 || (slots[entry * 2] === place && (known & ~rowBits) >>> 0 === rest)) return entry * 2;
    }
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = new Uint32Array(old.length * 2);
    for (let at = 0; at < old.length; at += 2) {
      if (old[at + 1] === 0) continue;
      // Different hashes: the first free slot.
      const free = this.#find(old[at]!, (old[at + 1]! & ~rowBits) >>> 0);
      this.#slots[free] = old[at]!;
      this.#slots[free + 1] = old[at + 1]!;
    }
  }
}
