import { safeFilename } from "../../contract/image-file.ts";
import type { imageTypes } from "../../contract/value-sets.ts";

/** Extensions by image type (ExportRow, suggested_filename). */
export const extensions: Readonly<Record<(typeof imageTypes)[number], string>> = {
  "image/jpeg": ".jpg",
  "image/png": ".png",
  "image/webp": ".webp",
};

/** The names in one folder, unique even on a case-insensitive file system. */
export class Filenames {
  /** Number of requests for each name. */
  readonly #asked = new Map<string, number>();

  /**
   * A safe name from stem, ending and extension. A repeated name gets a number: `stem` + `ending` + `_2` +
   * `.jpg`.
   */
  take(stem: string, ending: string, extension: string): string {
    const plain = safeFilename(stem, ending + extension);
    let name = plain;
    while (this.#asked.has(folded(name))) {
      const count = this.#asked.get(folded(plain))! + 1;
      this.#asked.set(folded(plain), count);
      name = safeFilename(stem, `${ending}_${count}${extension}`);
    }
    this.#asked.set(folded(name), 1);
    return name;
  }
}

const folded = (name: string): string => name.toUpperCase();
