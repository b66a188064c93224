import { canShow } from "../../src/contract/generation-rules.ts";
import {
  beautifierAngleShots,
  beautifierBackgrounds,
  beautifierStyles,
  taskSubtypes,
  tryonAngleShots,
  tryonBackgrounds,
} from "../../src/contract/value-sets.ts";
import type { Random } from "../../src/mock/seed/seed.ts";

export type Kind = "tryon" | "beautify";

/** A product of the service, with the orientation of its photo. Tasks fail where the reference says so (interface, serve --mock). */
export interface ShopProduct {
  readonly reference: string;
  readonly photo: "front" | "back" | "unlabeled";
  /** Whether another client deletes it once the run has looked it up. */
  readonly isDoomed: boolean;
}

/** A row of the file: each list has one value, or several with `--matrix`. */
export interface Look {
  readonly products: readonly ShopProduct[];
  /** Whether products are named by their IDs. */
  readonly byId: boolean;
  readonly models: readonly SoakModel[];
  readonly stylings: readonly ShopProduct[];
  readonly backgrounds: readonly string[];
  readonly angles: readonly string[];
  /** Whether the model looks at the camera; empty where the row does not say. */
  readonly looks: readonly boolean[];
  readonly subtype: (typeof taskSubtypes)[number] | null;
  /** Empty where the row does not say. */
  readonly styles: readonly string[];
}

/** A curated model of the service, and how a row names it. */
interface SoakModel {
  readonly id: string;
  readonly named: string;
}

/** One image that a row asks for. */
export interface Wanted {
  /** The place of its row, from 0. */
  readonly row: number;
  readonly product: ShopProduct;
  readonly model: string | null;
  readonly stylings: readonly ShopProduct[];
  readonly background: string;
  readonly angle: string;
  readonly look: boolean;
  readonly subtype: string | null;
  readonly style: string | null;
}

const curated = [
  ["mdl_001", "Amara"],
  ["mdl_002", "Bastian"],
  ["mdl_003", "Chiyo"],
  ["mdl_004", "Diego"],
] as const;
/** The ID of a model that a row names. */
export const modelIdOf = (named: string): string => curated.find(([, name]) => name === named)?.[0] ?? named;

const colors = ["#f4f1ea", "#102030"];

export interface LookOptions {
  readonly kind: Kind;
  /** About how many images the file asks for. */
  readonly size: number;
  readonly matrix: boolean;
  readonly allowDuplicates: boolean;
  /** Whether some rows name what the service rejects. */
  readonly hasRejected: boolean;
}

/** Rows, and the products that they name. The first row names nothing that the service rejects. */
export function makeLooks(
  random: Random,
  { kind, size, matrix, allowDuplicates, hasRejected }: LookOptions,
): { products: ShopProduct[]; looks: Look[] } {
  const products = makeProducts(random, hasRejected);
  const good = products.filter(({ isDoomed, photo }) => !isDoomed && photo === "unlabeled");
  const doomed = products.filter(({ isDoomed }) => isDoomed);
  const looks: Look[] = [];
  const seen = new Set<string>();
  for (let count = 0, tries = 0; count < size && tries < size * 4; tries++) {
    const some = looks.length === 0 ? good : products;
    const look = kind === "tryon" ? tryonLook(random, some, matrix) : beautifyLook(random, some, matrix);
    // A row of a deleted product asks for nothing else, so that all of it is rejected.
    const isMixed = look.products.length > 1 && look.products.some((one) => doomed.includes(one));
    const images = expand(look, looks.length);
    const toReference = ({ reference }: ShopProduct) => reference;
    const keys = images.map(({ row: _row, stylings, ...image }) =>
      JSON.stringify([image, stylings.map(toReference).sort()]),
    );
    const isTaken = !allowDuplicates && keys.some((key) => seen.has(key));
    const isTooMany = looks.length > 0 && count + images.length > size;
    if (isMixed || isTaken || isTooMany) continue;
    for (const key of keys) seen.add(key);
    looks.push(look);
    count += images.length;
  }
  return { products, looks };
}

/** Every combination of the values of a row. */
export function expand(look: Look, row: number): Wanted[] {
  const { products, models, stylings, backgrounds, angles, looks, subtype, styles } = look;
  const all: Wanted[] = [];
  for (const product of products)
    for (const model of models.length > 0 ? models : [null])
      for (const background of backgrounds)
        for (const angle of angles)
          for (const at of looks.length > 0 ? looks : [true])
            for (const style of styles.length > 0 ? styles : [null])
              all.push({
                ...{ row, product, model: model?.id ?? null, stylings },
                ...{ background, angle, look: at, subtype, style },
              });
  return all;
}

/** Whether the service rejects an image: a product that is gone, or that has no photo for the angle. */
export const isRejected = ({ product, stylings, subtype, angle }: Wanted): boolean =>
  product.isDoomed ||
  stylings.some(({ isDoomed }) => isDoomed) ||
  (subtype !== null && !canShow(angle, [product.photo]));

function makeProducts(random: Random, hasRejected: boolean): ShopProduct[] {
  const count = random.pick([2, 3, 6, 12]);
  return Array.from({ length: count }, (_, at) => {
    const fails = at > 0 && random.next() < 0.1;
    const name = random.pick(["Kleid", "coat 7", "帽子", "A/B", "shoe"]);
    return {
      reference: `${name}-${at}${fails ? "-fail-model_unsafe_content" : ""}`,
      photo: hasRejected && at > 0 ? random.pick(["front", "back", "unlabeled"] as const) : "unlabeled",
      isDoomed: hasRejected && at > 1 && random.next() < 0.25,
    };
  });
}

/** One of a list or, in a matrix, up to `most` of them. */
function some<T>(random: Random, from: readonly T[], matrix: boolean, most: number): T[] {
  const count = matrix ? 1 + random.below(Math.min(most, from.length)) : 1;
  const picked = new Set<T>();
  while (picked.size < count) picked.add(random.pick(from));
  return [...picked];
}

function tryonLook(random: Random, from: readonly ShopProduct[], matrix: boolean): Look {
  const products = some(random, from, matrix, 2);
  const others = from.filter((one) => !products.includes(one));
  const stylings = others.length > 0 && random.next() < 0.3 ? some(random, others, true, 3) : [];
  return {
    products,
    byId: random.next() < 0.3,
    models: some(random, curated, matrix, 2).map(([id, name]) => ({
      id,
      named: random.pick([id, name]),
    })),
    stylings,
    backgrounds: some(random, [...tryonBackgrounds, ...colors], matrix, 3),
    angles: some(random, [...tryonAngleShots, "custom-walk"], matrix, 4),
    looks: random.next() < 0.7 ? [] : some(random, [true, false], matrix, 2),
    subtype: null,
    styles: [],
  };
}

function beautifyLook(random: Random, from: readonly ShopProduct[], matrix: boolean): Look {
  const subtype = random.pick(taskSubtypes);
  const hasStyle = subtype === "clothing" && random.next() < 0.5;
  return {
    products: some(random, from, matrix, 2),
    byId: random.next() < 0.3,
    models: [],
    stylings: [],
    backgrounds: some(random, [...beautifierBackgrounds, ...colors], matrix, 3),
    angles: some(random, beautifierAngleShots[subtype], matrix, 3),
    looks: [],
    subtype,
    styles: hasStyle ? some(random, beautifierStyles, matrix, 2) : [],
  };
}
