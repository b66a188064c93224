// Photos of a folder that belong to products by their file names.

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type Orientation, orientations } from "../../contract/value-sets.ts";
import { foldedPath } from "../files/folded-path.ts";
import type { FieldProblem } from "../rows/row-form.ts";
import { InputError } from "../rows/source.ts";
import { ofPhoto, patternOf, usualPatterns } from "./image-pattern.ts";

/** A photo and what its name says: a side, a number, or neither. */
interface NamedPhoto {
  readonly name: string;
  readonly side: Orientation | undefined;
  readonly number: number | undefined;
}

/** An image of a row. */
interface FolderImage {
  path: string;
  orientation?: Orientation;
}

/** The photos of a folder by the references in their names. */
export class PhotoFolder {
  readonly #folder: string;
  readonly #shown: string;
  readonly #byReference = new Map<string, NamedPhoto[]>();
  readonly #names: readonly string[];
  /** The reference of the row that each photo belongs to, by its name. */
  readonly #rows = new Map<string, string>();
  /** Rows that neither name a photo nor have one here. */
  #rowsWithout = 0;

  /** `shown`: the folder in messages. */
  constructor(folder: string, shown: string, names: readonly string[], patterns: readonly RegExp[]) {
    this.#folder = folder;
    this.#shown = shown;
    this.#names = names;
    for (const name of names) {
      const stem = foldedPath(name.replace(ofPhoto, ""));
      for (const pattern of patterns) {
        const { reference, side, n } = pattern.exec(stem)?.groups ?? {};
        if (reference === undefined) continue;
        const photos = this.#byReference.get(reference) ?? [];
        const orientation = side?.replace(/[_ ]/g, "-") as Orientation | undefined;
        photos.push({ name, side: orientation, number: n === undefined ? undefined : Number(n) });
        this.#byReference.set(reference, photos);
      }
    }
  }

  /** The photos of a reference: those without a side by number, then the sides in their usual order. */
  imagesOf(reference: unknown): FolderImage[] {
    const rank = ({ side, number = 0 }: NamedPhoto) =>
      side === undefined ? number - 1e9 : orientations.indexOf(side);
    return [...this.#photosOf(reference)]
      .sort((one, other) => rank(one) - rank(other))
      .map(({ name, side }) => ({ path: join(this.#folder, name), ...(side && { orientation: side }) }));
  }

  /** What makes the photos of a row doubtful; `isFilled`: its images come from this folder. Each row is checked once. */
  problems(reference: string, isFilled: boolean): readonly FieldProblem[] {
    const photos = this.#photosOf(reference);
    const found: FieldProblem[] = [];
    const add = (code: string, message: string) => found.push({ param: "images", code, message });
    if (isFilled && photos.length === 0) {
      this.#rowsWithout++;
      add("photo_not_found", `no photo in ${this.#shown} is named after "${reference}"`);
    }
    const seen = new Map<string, string>();
    for (const { name, side, number } of photos) {
      const owner = this.#rows.get(name);
      if (owner !== undefined && owner !== reference && isFilled)
        add("ambiguous_photo", `"${name}" fits both "${owner}" and "${reference}": add --images-pattern`);
      this.#rows.set(name, reference);
      const what = side ?? number ?? "";
      const earlier = seen.get(`${what}`);
      if (earlier !== undefined && isFilled)
        add(
          "ambiguous_photo",
          `"${earlier}" and "${name}" are the same photo of "${reference}": remove one of them`,
        );
      seen.set(`${what}`, name);
    }
    return found;
  }

  /** What was found once all rows were checked, in sentences. */
  *notes(): Generator<string> {
    const counted = (count: number, one: string, several: string) =>
      count === 1 ? `1 ${one}` : `${count} ${several}`;
    const free = this.#names.filter((name) => !this.#rows.has(name));
    if (this.#rowsWithout > 0)
      yield `${counted(this.#rowsWithout, "row has", "rows have")} no photo in ${this.#shown}.`;
    if (free.length > 0) {
      const first = `${free.slice(0, 3).join(", ")}${free.length > 3 ? ", ..." : ""}`;
      yield `${counted(free.length, "photo belongs", "photos belong")} to no row: ${first}`;
    }
  }

  #photosOf(reference: unknown): readonly NamedPhoto[] {
    return typeof reference === "string" ? (this.#byReference.get(foldedPath(reference.trim())) ?? []) : [];
  }
}

/** Opens a folder of photos. Throws InputError if it cannot be read or the pattern has no reference. */
export async function openPhotoFolder(folder: string, shown: string, pattern?: string): Promise<PhotoFolder> {
  const names = await readdir(folder).catch(({ code }: NodeJS.ErrnoException) => {
    const why =
      code === "ENOENT"
        ? "does not exist"
        : code === "ENOTDIR"
          ? "is not a folder"
          : `cannot be read (${code})`;
    throw new InputError(
      `--images-from ${shown} ${why}`,
      "images_from_not_found",
      "Choose the folder of the photos.",
    );
  });
  const photos = names.filter((name) => ofPhoto.test(name) && !name.startsWith(".")).sort();
  const patterns = pattern === undefined ? usualPatterns : [pattern.replace(ofPhoto, "")];
  return new PhotoFolder(folder, shown, photos, patterns.map(patternOf));
}
