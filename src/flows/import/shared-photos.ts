// One photo on two products of a file is often a mistake of a formula that was filled down: the same URL, or files with the
// same bytes.

import { isObject } from "../../json.ts";
import type { LocalPhotos } from "../photos/local-photos.ts";
import type { PhotoUrls } from "../photos/photo-urls.ts";
import type { FieldNote } from "../rows/notes.ts";
import type { NotesAcrossRows } from "../rows/row-form.ts";

type Photos = Pick<LocalPhotos, "sizeOf" | "digest">;

/** A photo in a row, and how it is noted. */
interface Use {
  readonly row: number;
  readonly param: string;
  /** The URL, or the path of a local file. */
  readonly value: string;
  readonly onNote: (note: FieldNote) => void;
}

/** Finds photos that an earlier row has as well. `photos`: reads local files; `checked`: knows the bytes behind URLs. */
export function sharedPhotos(
  random: () => number,
  photos: Photos,
  checked?: Pick<PhotoUrls, "found">,
): NotesAcrossRows {
  const urls = new SeenUrls(random);
  const locals: Use[] = [];
  let count = 0;
  // The bytes of local files are known at the end only.
  let first: Use | undefined;
  const found = (use: Use) => {
    count++;
    if (first === undefined || use.row < first.row) first = use;
  };
  return {
    add(content, row, onNote) {
      const { images } = content as { images?: unknown };
      if (!Array.isArray(images)) return;
      for (let index = 0; index < images.length; index++) {
        const image: unknown = images[index];
        if (!isObject(image)) continue;
        const { url, path } = image;
        if (typeof path === "string")
          locals.push({ row, param: `images[${index}].path`, value: path, onNote });
        if (typeof url !== "string") continue;
        const bytes = checked?.found(url)?.content ?? null;
        if (urls.add(url, row) || (bytes !== null && urls.add(bytes, row)))
          found({ row, param: `images[${index}].url`, value: url, onNote });
      }
    },

    async end() {
      const bySize = new Map<number, Use[]>();
      for (const use of locals) {
        const size = await photos.sizeOf(use.value);
        if (size === null) continue;
        const alike = bySize.get(size);
        if (alike === undefined) bySize.set(size, [use]);
        else alike.push(use);
      }
      // Nearly all files differ in size, and are not read.
      for (const alike of bySize.values())
        if (alike.length > 1) for (const use of await equalOf(alike, photos)) found(use);
      if (first === undefined) return;
      const { param, value, onNote } = first;
      for (let noted = 0; noted < count; noted++) onNote({ code: "same_photo", param, value });
    },
  };
}

/** Those whose bytes an earlier row has. */
async function equalOf(alike: readonly Use[], photos: Photos): Promise<Use[]> {
  const rows = new Map<string, number>();
  const equal: Use[] = [];
  for (const use of alike) {
    const digest = await photos.digest(use.value);
    const earlier = rows.get(digest);
    if (earlier === undefined) rows.set(digest, use.row);
    else if (earlier !== use.row) equal.push(use);
  }
  return equal;
}

/** How much of a row's number is kept: another row has the same part too rarely to matter. */
const rowBits = 0x7ff;

/**
 * URLs with the rows that have them, in 8 bytes per entry: a file may have a million. It keeps 53 bits of a hash, so that of a
 * million URLs two are taken for one another once in 20,000 files.
 */
class SeenUrls {
  #slots = new Uint32Array(2048);
  #size = 0;
  readonly #seed: number;

  constructor(random: () => number) {
    this.#seed = (random() * 2 ** 32) | 0;
  }

  /** Whether another row has the URL, which is remembered. */
  add(url: string, row: number): boolean {
    if (this.#size * 3 > this.#slots.length) this.#grow();
    let [a, b] = [this.#seed, url.length];
    for (let index = 0; index < url.length; index++) {
      const unit = url.charCodeAt(index);
      a = Math.imul(a ^ unit, 0x85ebca6b);
      a ^= a >>> 15;
      b = Math.imul(b, 0x01000193) ^ unit;
    }
    const place = a >>> 0;
    const rest = (Math.imul(b ^ (b >>> 15), 0x7feb352d) & ~rowBits) >>> 0;
    const at = this.#find(place, rest);
    const known = this.#slots[at + 1]!;
    if (known !== 0) return (known & rowBits) !== ((row + 1) & rowBits);
    this.#slots[at] = place;
    // Never 0, which is a free slot.
    this.#slots[at + 1] = rest | ((row + 1) & rowBits) || rowBits;
    this.#size++;
    return false;
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
