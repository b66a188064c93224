// One photo on two products of a file is often a mistake of a formula that was filled down: the same URL, or
// files with the same bytes.

import type { LocalPhotos } from "../photos/local-photos.ts";
import type { PhotoUrls } from "../photos/photo-urls.ts";
import type { InputRow, NotesAcrossRows } from "../rows/row-form.ts";
import { fetchedUrl } from "./digests.ts";

type Photos = Pick<LocalPhotos, "sizeOf" | "digest">;

/** A photo of a row, which is not kept. */
interface Use {
  readonly at: number;
  readonly image: number;
  /** The path of a local photo; undefined for a URL. */
  readonly path?: string;
}

type LocalUse = Required<Use>;

/** Finds photos that an earlier row has. `photos` reads local files; `checked` knows bytes behind URLs. */
export function sharedPhotos(random: () => number, photos: Photos, checked?: PhotoUrls): NotesAcrossRows {
  const locals: LocalUse[] = [];
  const urls = new UrlUses(random);
  return {
    add(row, at) {
      const images = imagesOf(row);
      for (let image = 0; image < images.length; image++) {
        const { url, path } = images[image] ?? {};
        if (typeof path === "string") locals.push({ at, image, path });
        // Equal URLs have equal bytes.
        if (typeof url === "string") urls.add(checked?.found(url)?.content ?? asFetched(url), at, image);
      }
    },

    async end() {
      let count = 0;
      let first: Use | undefined;
      const found = (use: Use) => {
        count++;
        if (first === undefined || use.at < first.at || (use.at === first.at && use.image < first.image))
          first = use;
      };
      urls.findRepeated(found);
      const bySize = new Map<number, LocalUse[]>();
      for (const use of locals) {
        const size = await photos.sizeOf(use.path);
        if (size === null) continue;
        const alike = bySize.get(size);
        if (alike === undefined) bySize.set(size, [use]);
        else alike.push(use);
      }
      // Nearly all files differ in size, and are not read.
      for (const alike of bySize.values())
        if (alike.length > 1) for (const use of await equalOf(alike, photos)) found(use);
      if (first === undefined) return [];
      const { at, image, path } = first;
      const part = path === undefined ? "url" : "path";
      const toNote = (row: InputRow) =>
        ({
          code: "same_photo",
          param: `images[${image}].${part}`,
          value: imagesOf(row)[image]![part] as string,
        }) as const;
      return [{ at, count, toNote }];
    },
  };
}

/** Nearly all URLs are ASCII, with a host in small letters and no port: parsing all would take seconds. */
const plainUrl = /^https:\/\/[a-z\d.-]+\/[!$-~]*$/;

const asFetched = (url: string): string =>
  plainUrl.test(url) && url.indexOf("/.") === -1 ? url : fetchedUrl(url);

type Images = readonly (Readonly<Record<string, unknown>> | null)[];

function imagesOf({ content }: InputRow): Images {
  const { images } = content as { images?: unknown };
  return Array.isArray(images) ? images : [];
}

/** Those whose bytes an earlier row has. */
async function equalOf(alike: readonly LocalUse[], photos: Photos): Promise<LocalUse[]> {
  const rows = new Map<string, number>();
  const equal: LocalUse[] = [];
  for (const use of alike) {
    const digest = await photos.digest(use.path);
    const earlier = rows.get(digest);
    if (earlier === undefined) rows.set(digest, use.at);
    else if (earlier !== use.at) equal.push(use);
  }
  return equal;
}

/** A row has at most 20 photos. */
const imageBits = 5;
const parts = 256;
/** The numbers of an entry: two parts of a hash, then the row and the photo. */
const entryLength = 3;
/** The length of an array of entries; a larger one instead of another one would leave its copy behind. */
const chunkLength = entryLength * 256;

/**
 * URLs by 72 bits of a hash, with their photos, in 12 bytes each, as a file may have millions; divided so
 * that the memory of one lookup fits in a processor's cache.
 */
class UrlUses {
  readonly #seed: number;
  /** The complete chunks of each part, and the one that is being filled. */
  readonly #chunks = Array.from({ length: parts }, (): Uint32Array[] => []);
  readonly #last: (Uint32Array | undefined)[] = Array.from({ length: parts });
  readonly #lengths = new Uint16Array(parts);

  constructor(random: () => number) {
    this.#seed = (random() * 2 ** 32) | 0;
  }

  /** Remembers the use of a photo, which is known by its URL or by its bytes. */
  add(text: string, at: number, image: number): void {
    let a = this.#seed;
    let b = text.length;
    // Two units at a time, by two hashes that a processor computes at once; nearly all texts begin with
    // https://.
    let unit = text[7] === "/" ? 8 : 0;
    for (; unit < text.length - 1; unit += 2) {
      const units = text.charCodeAt(unit) | (text.charCodeAt(unit + 1) << 16);
      a = Math.imul(a ^ units, 0x85ebca6b);
      a ^= a >>> 15;
      b = Math.imul(b ^ units, 0xc2b2ae35);
      b ^= b >>> 13;
    }
    // The last one, and a round in which both meet.
    const last = unit < text.length ? text.charCodeAt(unit) : -1;
    a = Math.imul(a ^ last ^ (b >>> 16), 0x7feb352d);
    b = Math.imul(b ^ last ^ (a >>> 15), 0x27d4eb2f);
    const part = (a >>> 16) & (parts - 1);
    if (this.#lengths[part] === chunkLength) this.#addChunk(part);
    const end = this.#lengths[part]!;
    this.#last[part] ??= new Uint32Array(chunkLength);
    const entries = this.#last[part];
    entries[end] = a;
    entries[end + 1] = b ^ (b >>> 15);
    entries[end + 2] = (at << imageBits) | image;
    this.#lengths[part] = end + entryLength;
  }

  /** Calls `found` with each use of a photo but the first one, unless that is in the same row. */
  findRepeated(found: (use: Use) => void): void {
    const most = Math.max(...this.#chunks.map((chunks) => chunks.length + 1)) * chunkLength;
    // The same memory for all parts.
    const entries = new Uint32Array(most);
    const firsts = new Uint32Array(2 ** Math.ceil(Math.log2(most)));
    for (const [part, chunks] of this.#chunks.entries()) {
      const last = this.#last[part];
      if (last === undefined) continue;
      for (const [at, chunk] of chunks.entries()) entries.set(chunk, at * chunkLength);
      const before = chunks.length * chunkLength;
      entries.set(last, before);
      findRepeated(entries.subarray(0, before + this.#lengths[part]!), firsts.fill(0), found);
    }
  }

  #addChunk(part: number): void {
    this.#chunks[part]!.push(this.#last[part]!);
    this.#last[part] = undefined;
    this.#lengths[part] = 0;
  }
}

/** `firsts`: where the first entry of a hash begins, from 1; 0 for none. Its length is a power of two. */
function findRepeated(entries: Uint32Array, firsts: Uint32Array, found: (use: Use) => void): void {
  const size = firsts.length;
  for (let entry = 0; entry < entries.length; entry += entryLength) {
    let slot = entries[entry + 1]! & (size - 1);
    let first = firsts[slot]! - 1;
    while (first !== -1 && !haveOneHash(entries, first, entry)) {
      slot = (slot + 1) & (size - 1);
      first = firsts[slot]! - 1;
    }
    if (first === -1) {
      firsts[slot] = entry + 1;
      continue;
    }
    const use = entries[entry + 2]!;
    const at = use >>> imageBits;
    if (entries[first + 2]! >>> imageBits !== at) found({ at, image: use & (2 ** imageBits - 1) });
  }
}

const haveOneHash = (entries: Uint32Array, a: number, b: number): boolean =>
  entries[a] === entries[b] && entries[a + 1] === entries[b + 1];
