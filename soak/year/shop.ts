import { contentSource, photoBytes } from "../import/files.ts";

/** A row of the sheet; photos are numbers. */
export interface Row {
  readonly reference: string;
  name: string;
  front: number;
  back: number | null;
}

/** A generated image of a look. */
export interface Shot {
  readonly failed: boolean;
  decision: "approve" | "reject" | null;
}

export const angles = ["full-front", "full-back"] as const;

/** What a product must be. */
export interface Product {
  readonly reference: string;
  /** How many products had the reference before. */
  readonly life: number;
  name: string;
  description: string | null;
  /** The side of each photo. */
  readonly photos: Map<number, string>;
  /** The images of each angle, oldest first. */
  readonly shots: Readonly<Record<(typeof angles)[number], Shot[]>>;
}

export type Conflicts = "service" | "sheet";

/** What the service must have, worked out from the sheet and from what people do. Nothing here is read from the program. */
export class Shop {
  readonly products = new Map<string, Product>();
  /** Every product that there ever was. */
  readonly all: Product[] = [];
  /** What each row of the sheet said when it was imported last, and of which product with its reference. */
  #said = new Map<string, { readonly row: Row; readonly life: number }>();
  readonly #lives = new Map<string, number>();

  create({ reference, name, front, back }: Row): Product {
    const life = this.#lives.get(reference) ?? 0;
    this.#lives.set(reference, life + 1);
    const photos = new Map([[front, "front"]]);
    if (back !== null) photos.set(back, "back");
    const shots = { "full-front": [], "full-back": [] };
    const product = { reference, life, name, description: null, photos, shots };
    this.products.set(reference, product);
    this.all.push(product);
    return product;
  }

  delete(reference: string): void {
    this.products.delete(reference);
  }

  /** The machine of the import has forgotten everything. */
  forget(): void {
    this.#said = new Map();
  }

  /** Imports the sheet; returns what takes the import back. */
  import(rows: readonly Row[], conflicts: Conflicts): () => void {
    const said = this.#said;
    const undo: (() => void)[] = [];
    for (const row of rows) {
      const last = said.get(row.reference);
      const product = this.products.get(row.reference);
      if (product === undefined) {
        const isEdited = last === undefined || isOther(last.row, row);
        if (last !== undefined && !(isEdited && conflicts === "sheet")) continue;
        this.create(row);
        undo.push(() => this.delete(row.reference));
        continue;
      }
      const before = last?.life === product.life ? last.row : undefined;
      const { name, photos } = product;
      const kept = new Map(photos);
      undo.push(() => {
        product.name = name;
        photos.clear();
        for (const [photo, side] of kept) photos.set(photo, side);
      });
      changeName(product, row, { before, conflicts });
      for (const side of ["front", "back"] as const) {
        const [is, was] = [row[side], before?.[side] ?? null];
        if (is === null || (before !== undefined && is === was)) continue;
        // Photos that neither the row nor its before names.
        const others = [...photos].filter(([one, theirs]) => theirs === side && one !== is && one !== was);
        if (others.length > 0 && conflicts === "service" && !photos.has(is)) continue;
        const replaces = conflicts === "sheet" && (before === undefined || !photos.has(is));
        photos.set(is, side);
        if (was !== null) photos.delete(was);
        if (replaces) for (const [photo] of others) photos.delete(photo);
      }
    }
    // A row that is no longer in the sheet has said what it said.
    this.#said = new Map(said);
    for (const row of rows) {
      const { life } = this.products.get(row.reference) ?? said.get(row.reference)!;
      this.#said.set(row.reference, { row: { ...row }, life });
    }
    return () => {
      for (const act of undo) act();
      this.#said = said;
    };
  }

  /** Generates each image that no product has, or whose images all failed or were rejected. Returns their number. */
  generateMissing(): number {
    const missing = [...this.products.values()].flatMap((product) =>
      angles.filter((angle) => !product.shots[angle].some(counts)).map((angle) => [product, angle] as const),
    );
    for (const [product, angle] of missing) this.generate(product, angle);
    return missing.length;
  }

  generate(product: Product, angle: (typeof angles)[number]): void {
    product.shots[angle].push({ failed: isDoomed(product.reference), decision: null });
  }
}

const isOther = (one: Row, other: Row): boolean =>
  one.name !== other.name || one.front !== other.front || one.back !== other.back;

const counts = ({ failed, decision }: Shot): boolean => !failed && decision !== "reject";

/** All images of the product fail. */
export const isDoomed = (reference: string): boolean => reference.includes("fail-");

function changeName(
  product: Product,
  row: Row,
  { before, conflicts }: { before: Row | undefined; conflicts: Conflicts },
): void {
  if (before !== undefined && row.name === before.name) return;
  const isConflict = before !== undefined && product.name !== before.name && product.name !== row.name;
  if (!isConflict || conflicts === "sheet") product.name = row.name;
}

/** A product as text, by the contents of its photos. */
export const productLine = (
  { reference, name, description }: Pick<Product, "reference" | "name" | "description">,
  photos: readonly string[],
): string => `${reference} ${JSON.stringify([name, description])} ${[...photos].sort().join(" ")}`;

export const photoLine = (photo: number, side: string): string =>
  `${contentSource(photoBytes(photo)).slice(-12)}:${side}`;
