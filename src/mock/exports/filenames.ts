import { safeFilename } from "../../contract/safe-filename.ts";
import type { imageTypes } from "../../contract/value-sets.ts";

/** The extension that fits the bytes (ExportRow, suggested_filename). */
export const extensions: Readonly<Record<(typeof imageTypes)[number], string>> = {
  "image/jpeg": ".jpg",
  "image/png": ".png",
  "image/webp": ".webp",
};

/** The names of one folder: each given out once, however a file system takes upper and lower case. */
export class Filenames {
  /** How often each name was asked for. */
  readonly #asked = new Map<string, number>();

  /** `stem`, `ending` and extension as one safe name; the second of that name is `stem ending _2 .jpg`, without the spaces. */
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
