// Decides about the photos of a row whose product exists (docs/resuming.md, Photos).

import type { FileImage, FileRow } from "./file-row.ts";
import type { ConflictChoice, RowOptions } from "./import-input.ts";
import type { KnownImage, KnownProduct } from "./known-product.ts";
import { isSameSource, type RowCells, type Said, type SaidPhoto } from "./said.ts";

/** Why an image is detached: its place has another source now, or none. */
export type DetachReason = "replaced" | "removed";

export interface Conflict {
  readonly code: string;
  readonly message: string;
  /** The command that leads out, if no edit of the sheet does. */
  readonly command?: string;
}

export interface PhotoDecision {
  /** The photos to attach, by their place in the row. */
  readonly attach: readonly number[];
  readonly move: readonly { readonly image: string; readonly side: string }[];
  readonly detach: readonly { readonly image: string; readonly why: DetachReason }[];
  /** Photos that were emptied in a plain sheet, and stay. */
  readonly notRemoved: readonly SaidPhoto[];
  /** Photos of the row, by place, to compare with those of the product first. */
  readonly uncompared: readonly number[];
  /** The photos of the product to compare with: those that neither the row nor its before names. */
  readonly others: readonly KnownImage[];
  readonly conflict: Conflict | null;
  /** The product lost photos of the row, or has others. */
  readonly isKept: boolean;
}

/** Found by comparing bytes of a source that equals no photo of its product. */
export type ComparisonResult = "different" | "unfetchable";

interface PhotoOptions extends Pick<RowOptions, "addedPhotos" | "namesFromReferences"> {
  readonly exact?: boolean | undefined;
  readonly conflicts?: ConflictChoice | undefined;
  readonly isExported: boolean;
  /** The row of a failed file may lack photos that were attached. */
  readonly mayBePartial: boolean;
  readonly findCompared: (source: Buffer) => ComparisonResult | undefined;
}

interface PhotosToDecide extends PhotoOptions {
  readonly cells: RowCells;
  readonly before: Said | null;
  readonly known: KnownProduct;
}

const nothing: PhotoDecision = {
  attach: [],
  move: [],
  detach: [],
  notRemoved: [],
  uncompared: [],
  others: [],
  conflict: null,
  isKept: false,
};

/** A photo of a row: the first of its source, or the first that has a side. */
interface NamedPhoto extends SaidPhoto {
  readonly index: number;
  readonly shown: string;
  readonly isId: boolean;
}

export function decidePhotos(
  { content, cells }: { readonly content: FileRow; readonly cells: RowCells },
  before: Said | null,
  known: KnownProduct,
  options: PhotoOptions,
): PhotoDecision {
  const { photos } = cells.said;
  if (photos === null) return nothing;
  const named = distinctPhotos(photos, content.images, known);
  const draft = new Draft({ ...options, cells, before, known }, named);
  for (const photo of named) draft.decide(photo);
  if (options.exact) draft.detachOthers();
  else draft.decideAllEarlier();
  return draft.decision();
}

/** The side that a photo is told to have. */
const toldSide = ({ side }: SaidPhoto): string | undefined => (side === "unlabeled" ? undefined : side);

/** The photos of a row: the same source several times, or several sources of one image, are one photo. */
export function distinctPhotos(
  photos: readonly SaidPhoto[],
  images: readonly FileImage[],
  known?: KnownProduct,
): NamedPhoto[] {
  const distinct: NamedPhoto[] = [];
  for (const [index, photo] of photos.entries()) {
    const { url, image_id, path } = images[index]!;
    const named = { ...photo, index, shown: url ?? image_id ?? path!, isId: image_id !== undefined };
    const own = known?.imageOf(photo.source) ?? null;
    const at = distinct.findIndex(
      ({ source }) => source.equals(photo.source) || (own !== null && known!.imageOf(source) === own),
    );
    if (at === -1) distinct.push(named);
    else if (toldSide(distinct[at]!) === undefined && toldSide(named) !== undefined) distinct[at] = named;
  }
  return distinct;
}

class Draft {
  readonly #row: PhotosToDecide;
  readonly #named: readonly NamedPhoto[];
  readonly #earlier: readonly SaidPhoto[];
  readonly #attach: number[] = [];
  readonly #move: { image: string; side: string }[] = [];
  readonly #detach = new Map<string, DetachReason>();
  readonly #uncompared: number[] = [];
  /** The user's photos of the product that neither the row nor its before names. */
  readonly #others: readonly KnownImage[];
  /** Those of them that came from no known source. */
  readonly #unknown: readonly KnownImage[];
  readonly #notRemoved: SaidPhoto[] = [];
  #keepsTheirs = false;
  #conflict: Conflict | null = null;

  constructor(row: PhotosToDecide, named: readonly NamedPhoto[]) {
    this.#row = row;
    this.#named = named;
    this.#earlier = row.before?.photos ?? [];
    const images = new Set([...named, ...this.#earlier].map(({ source }) => row.known.imageOf(source)));
    this.#others = row.known.images.filter(({ id, origin }) => origin === "user" && !images.has(id));
    this.#unknown = this.#others.filter(({ id }) => !row.known.isTraced(id));
  }

  decide(photo: NamedPhoto): void {
    const { known, exact } = this.#row;
    const earlier = this.#earlier.filter(({ source }) => isSameSource(source, photo.source));
    const image = known.imageOf(photo.source);
    const side = toldSide(photo);
    const isMoved = side !== undefined && (exact || !earlier.some((old) => toldSide(old) === side));
    const current = known.images.find(({ id }) => id === image);
    if (current !== undefined) {
      if (isMoved && current.side !== side) this.#move.push({ image: current.id, side: side! });
      // Its batch has attached it, and is decided about again.
      if (earlier.length === 0) this.#replaceOthers(side);
      return;
    }
    // Not edited: the product lost it, or its image is not known.
    if (earlier.length > 0 && !isMoved && !exact) return;
    // It was attached: a comparison may find its image, but it is no new photo.
    if (image === null && !exact) {
      if (this.#unknown.length > 0 && this.#isOpen(photo)) this.#uncompared.push(photo.index);
      else if (earlier.length > 0) this.#fail(untraced(photo));
      return;
    }
    this.#attachNew(photo, side);
  }

  /** Whether a photo has yet to be compared. */
  #isOpen({ isId, source }: NamedPhoto): boolean {
    return !isId && this.#row.findCompared(source) === undefined;
  }

  #attachNew(photo: NamedPhoto, side: string | undefined): void {
    const { findCompared, exact, conflicts } = this.#row;
    const taken = side === undefined ? undefined : this.#others.find((image) => image.side === side);
    // An image ID needs no comparison: the product does not have that image.
    if ((this.#unknown.length > 0 || taken !== undefined) && !photo.isId) {
      const found = findCompared(photo.source);
      if (found === undefined) {
        this.#uncompared.push(photo.index);
        return;
      }
      if (found === "unfetchable" && !exact) {
        this.#fail(unknownPhoto(photo));
        return;
      }
    }
    if (taken !== undefined && !exact) {
      if (conflicts === "service") {
        this.#keepsTheirs = true;
        return;
      }
      if (conflicts === undefined) {
        this.#fail(takenSide(photo, taken));
        return;
      }
      this.#replaceOthers(side);
    }
    this.#attach.push(photo.index);
  }

  /** With --conflicts sheet, a photo of the row replaces each other one that has its side. */
  #replaceOthers(side: string | undefined): void {
    const { exact, conflicts } = this.#row;
    if (exact || conflicts !== "sheet" || side === undefined) return;
    for (const image of this.#others) if (image.side === side) this.#detach.set(image.id, "replaced");
  }

  decideAllEarlier(): void {
    for (const photo of this.#earlier) this.#decideEarlier(photo);
  }

  /** A photo of before that no place of the row names any more: replaced, removed, or not carried out. */
  #decideEarlier(photo: SaidPhoto): void {
    const { known, isExported, cells } = this.#row;
    const now = cells.said.photos ?? [];
    if (now.some(({ source }) => isSameSource(source, photo.source))) return;
    const isReplaced = photo.place !== "" && now.some(({ place }) => place === photo.place);
    if (!isReplaced && !this.#isEmptied(photo)) return;
    const image = known.imageOf(photo.source);
    // Another source of the row may have become the same image.
    const isUsed = this.#named.some(({ source }) => known.imageOf(source) === image);
    if (typeof image === "string" && (isUsed || !known.has(image))) return;
    if (!isReplaced && !(isExported && cells.isEmptied(photo.place))) this.#notRemoved.push(photo);
    else if (typeof image === "string") this.#detach.set(image, isReplaced ? "replaced" : "removed");
    else if (this.#unknown.length > 0) this.#fail(untraced(photo));
  }

  #isEmptied({ place, side }: SaidPhoto): boolean {
    const { cells, isExported } = this.#row;
    return (
      cells.isEmptied(place) ||
      this.#isLostInFolder(place) ||
      (place === "" && !isExported && cells.mayHaveEntry(side))
    );
  }

  /** A folder gives columns for the photos of its fullest product: those of a lost photo may be missing. */
  #isLostInFolder(place: string): boolean {
    const { addedPhotos, namesFromReferences } = this.#row;
    return (addedPhotos !== undefined || namesFromReferences === true) && /^\d+$/.test(place);
  }

  /** With --exact, the product has the photos of the row alone. */
  detachOthers(): void {
    const { known } = this.#row;
    if (this.#uncompared.length > 0) return;
    const kept = new Set(this.#named.map(({ source }) => known.imageOf(source)));
    const sides = new Set(this.#named.map(({ side }) => side));
    for (const { id, side, origin } of known.images)
      if (origin === "user" && !kept.has(id)) this.#detach.set(id, sides.has(side) ? "replaced" : "removed");
    if (this.#row.mayBePartial && this.#detach.size > 0) this.#fail(partialRow);
  }

  decision(): PhotoDecision {
    const left = this.#row.known.images.filter(({ id }) => !this.#detach.has(id)).length;
    if (this.#detach.size > 0 && left + this.#attach.length === 0) this.#fail(lastPhotoConflict);
    return {
      attach: this.#attach,
      move: this.#move,
      detach: [...this.#detach].map(([image, why]) => ({ image, why })),
      notRemoved: this.#notRemoved,
      uncompared: this.#uncompared,
      others: this.#others,
      conflict: this.#conflict,
      isKept: this.#isKept(),
    };
  }

  #isKept(): boolean {
    const { known, before, isExported } = this.#row;
    if (this.#keepsTheirs) return true;
    if (before?.photos == null) return false;
    const images = [...this.#named, ...this.#earlier].map(({ source }) => known.imageOf(source));
    const isLost = this.#named.some(({ source, index }) => {
      const image = known.imageOf(source);
      const isThere = image === null || (image !== undefined && known.has(image));
      return !isThere && !this.#attach.includes(index);
    });
    // An exported sheet says which photos there were; a plain one may never have had them all.
    return (
      isLost ||
      (isExported && known.images.some(({ id, origin }) => origin === "user" && !images.includes(id)))
    );
  }

  #fail(conflict: Conflict): void {
    this.#conflict ??= conflict;
  }
}

const unknownPhoto = ({ shown }: NamedPhoto): Conflict => ({
  code: "photo_unknown",
  message: `cannot fetch ${shown} to compare it with the photos of the product: use --photos all to add it, or --exact to replace them`,
});

const takenSide = ({ shown }: NamedPhoto, { id, side }: KnownImage): Conflict => ({
  code: "photo_exists",
  message: `the product has another ${side} photo (${id}) than ${shown}: use --photos all to add it, or --exact to replace the other one`,
});

const untraced = ({ place }: SaidPhoto): Conflict => ({
  code: "photo_unknown",
  message: `cannot determine which photo of the product ${place === "" ? "the row" : `image_${place}`} had before: use --exact to replace its photos`,
});

/** The code of a row of a failed file for which --exact would detach photos. */
export const partialCode = "partial_row";

const partialRow: Conflict = {
  code: partialCode,
  message:
    "the row may lack photos that are attached: import it without --exact, or the corrected original file with --exact",
};

/** The conflict of a row that would leave its product without a photo. */
export const lastPhotoConflict: Conflict = {
  code: "last_photo",
  message: "a product needs a photo: its last one is not removed",
};
