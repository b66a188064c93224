// An independent model of what an import carries out (merge.md), for sheets with the columns name, description,
// image_front and image_back, on several machines.

export type Side = "front" | "back";
export const sides: readonly Side[] = ["front", "back"];

/** A row of a plain sheet; an empty text is an empty cell. */
export interface ModelRow {
  readonly reference: string;
  readonly name: string;
  readonly description: string;
  readonly front: string;
  readonly back: string;
}

export interface ModelPhoto {
  /** What its bytes are. */
  readonly content: string;
  side: string;
  /** Distinguishes photos of the same bytes. */
  readonly id: number;
}

export interface ModelProduct {
  readonly id: number;
  name: string;
  description: string;
  photos: ModelPhoto[];
}

/** How a row ended. */
export type Ending = "created" | "changed" | "left" | "deleted" | "conflict";

interface Said {
  readonly productId: number;
  readonly row: ModelRow;
}

/** The rules of the model, each of which a control leaves out. */
export const rules = [
  ...["not edited", "emptied field", "changed since", "deleted", "other catalogue", "other product"],
  ...["equal photo", "taken side", "moved", "replaced", "emptied photo", "exact"],
] as const;
export type Rule = (typeof rules)[number];

/** The service, and what each machine remembers. */
export class MergeModel {
  readonly #without: Rule | null;
  readonly products = new Map<string, ModelProduct>();
  readonly #said = new Map<string, Map<string, Said>>();
  /** The photos that a machine has attached, or found to be equal, by their IDs. */
  readonly #known = new Map<string, Set<number>>();
  #next = 1;

  constructor(without: Rule | null = null) {
    this.#without = without;
  }

  #holds(rule: Rule): boolean {
    return rule !== this.#without;
  }

  photo(content: string, side: string): ModelPhoto {
    return { content, side, id: this.#next++ };
  }

  /** Imports a sheet on a machine; returns the ending of each row. */
  import(machine: string, sheet: readonly ModelRow[], options: { exact: boolean }): Ending[] {
    const exact = options.exact && this.#holds("exact");
    const said = this.#said.get(machine) ?? new Map<string, Said>();
    this.#said.set(machine, said);
    const known = this.#known.get(machine) ?? new Set<number>();
    this.#known.set(machine, known);
    const before = sheet.map(({ reference }) => said.get(reference));
    const alive = sheet.filter(
      ({ reference }, at) => before[at] !== undefined && this.products.has(reference),
    );
    const isKnown = before.some((one) => one !== undefined);
    const isOther = isKnown && alive.length === 0 && this.#holds("other catalogue");
    return sheet.map((row, at) =>
      this.#importRow(row, isOther ? undefined : before[at], { said, known, exact }),
    );
  }

  #importRow(
    row: ModelRow,
    before: Said | undefined,
    { said, known, exact }: { said: Map<string, Said>; known: Set<number>; exact: boolean },
  ): Ending {
    const { reference } = row;
    const product = this.products.get(reference);
    if (product === undefined) {
      if (before !== undefined && !exact && this.#holds("deleted"))
        return isSame(row, before.row) ? "deleted" : "conflict";
      const created = {
        id: this.#next++,
        name: row.name,
        description: row.description,
        photos: [] as ModelPhoto[],
      };
      for (const [side, content] of namedPhotos(row)) {
        const photo = this.photo(content, side);
        created.photos.push(photo);
        known.add(photo.id);
      }
      this.products.set(reference, created);
      said.set(reference, { productId: created.id, row });
      return "created";
    }
    const isOfOther = before?.productId !== product.id && this.#holds("other product");
    const was = before === undefined || isOfOther ? null : before.row;
    const fields: Partial<ModelProduct> = {};
    let kept: ModelRow = row;
    for (const field of ["name", "description"] as const) {
      const [cell, old] = [row[field], was?.[field]];
      if (exact) fields[field] = cell;
      else if (cell === product[field]) continue;
      else if (old === undefined ? cell === "" : cell === old && this.#holds("not edited")) continue;
      else if (cell === "" && this.#holds("emptied field")) kept = { ...kept, [field]: old ?? "" };
      else if (old !== undefined && product[field] !== old && this.#holds("changed since")) return "conflict";
      else fields[field] = cell;
    }
    const photos = product.photos.map((photo) => ({ ...photo }));
    const cells = namedPhotos(row).map(([side, content]) => {
      const wasAt = was === null ? [] : sides.filter((one) => was[one] === content);
      const isMoved = exact || !wasAt.includes(side);
      const photo = photos.find((one) => one.content === content);
      const isSeen = photo !== undefined && (known.has(photo.id) || (isMoved && this.#holds("equal photo")));
      return { side, content, isMoved, photo: isSeen ? photo : undefined };
    });
    // Photos that are found to be equal stay known, also in a conflict.
    for (const { photo } of cells) if (photo !== undefined) known.add(photo.id);
    const isOther = (photo: ModelPhoto) =>
      !known.has(photo.id) || !(isNamed(row, photo) || (was !== null && isNamed(was, photo)));
    const added: ModelPhoto[] = [];
    for (const { side, content, isMoved, photo } of cells) {
      if (!isMoved) continue;
      const isTaken = product.photos.some((one) => isOther(one) && one.side === side);
      if (photo !== undefined) photo.side = this.#holds("moved") ? side : photo.side;
      else if (!exact && isTaken && this.#holds("taken side")) return "conflict";
      else added.push(this.photo(content, side));
    }
    const gone = new Set<number>();
    if (exact) for (const photo of photos) if (!isNamed(row, photo)) gone.add(photo.id);
    if (!exact && was !== null)
      for (const side of sides) {
        const content = was[side];
        if (content === "" || namedPhotos(row).some(([, one]) => one === content)) continue;
        const photo = photos.find((one) => one.content === content);
        if (photo === undefined || !known.has(photo.id)) continue;
        if (row[side] === "" && this.#holds("emptied photo")) kept = { ...kept, [side]: content };
        else if (this.#holds("replaced")) gone.add(photo.id);
      }
    const left = [...photos.filter(({ id }) => !gone.has(id)), ...added];
    const isChanged =
      added.length + gone.size > 0 ||
      Object.entries(fields).some(([field, value]) => product[field as "name"] !== value) ||
      photos.some(({ side }, at) => side !== product.photos[at]!.side);
    Object.assign(product, fields, { photos: left });
    for (const photo of added) known.add(photo.id);
    said.set(reference, { productId: product.id, row: kept });
    return isChanged ? "changed" : "left";
  }
}

/** The photos of a row: the same bytes twice are one photo. */
const namedPhotos = (row: ModelRow): [Side, string][] =>
  sides
    .filter((side) => row[side] !== "" && !(side === "back" && row.front === row.back))
    .map((side) => [side, row[side]]);

const isNamed = (row: ModelRow, { content }: ModelPhoto): boolean =>
  namedPhotos(row).some(([, one]) => one === content);

const isSame = (a: ModelRow, b: ModelRow): boolean =>
  a.name === b.name &&
  a.description === b.description &&
  JSON.stringify(namedPhotos(a)) === JSON.stringify(namedPhotos(b));
