import { operations } from "../../../contract/client-operations.ts";
import { questionFor } from "../../../contract/did-you-mean.ts";
import { limits, ulidPattern } from "../../../contract/limits.ts";
import type { Product } from "../../../contract/resources/products.ts";
import { CatError } from "../../../errors.ts";
import {
  type FoundProducts,
  namedReferences,
  productOf,
  productsBy,
  referenceProposals,
  unknownProduct,
  withSomeOthers,
} from "../../catalogue/lookups.ts";
import type { InputProblem, Place } from "../../rows/problem.ts";
import { InputError } from "../../rows/source.ts";
import type { Service } from "../../service.ts";
import { mayNotRead } from "../../service-errors.ts";
import { grouped, series, shownName } from "../../words.ts";

/** A product as the user names it. */
export interface WantedProduct {
  /** The ID or reference, without surrounding space. */
  readonly name: string;
  /** `either`: a text that looks like an ID may be a reference too. */
  readonly as: "id" | "reference" | "either";
  /** The photo of the product, in a file of photos. */
  readonly imageId?: string;
  /** The line of the file, from 1; 0 for a flag. */
  readonly line: number;
  /** The cell in a workbook. */
  readonly place?: Place;
}

/** The products that a frozen export is limited to, without duplicates. */
export interface Selection {
  /** The file as typed, `-` for standard input; null for flags. */
  readonly file: string | null;
  readonly wanted: readonly WantedProduct[];
}

/** The same products without repetitions, in the order in which they were first named. */
export function withoutRepetitions(wanted: readonly WantedProduct[]): readonly WantedProduct[] {
  const named = new Set<string>();
  return wanted.filter(({ as, imageId = "", name }) => {
    const key = `${as} ${imageId} ${name}`;
    const isNew = !named.has(key);
    named.add(key);
    return isNew;
  });
}

/** A name that no product has, and the references that it probably means. */
export interface UnknownProduct {
  readonly product: WantedProduct;
  readonly meant: readonly string[];
}

export interface ResolvedSelection {
  /** In the order of the catalogue, newest first, without duplicates. */
  readonly ids: readonly string[];
  readonly unknown: readonly UnknownProduct[];
}

export interface FoundSelection {
  readonly found: readonly { readonly named: WantedProduct; readonly product: Product }[];
  readonly unknown: readonly UnknownProduct[];
}

/** Finds the IDs of the products that a selection names. References must match exactly. */
export async function resolveSelection(
  selection: Selection,
  service: Service,
  onProgress: (done: number, total: number) => void,
): Promise<ResolvedSelection> {
  try {
    const { found, unknown } = await findSelection(selection, service, onProgress);
    return { ids: newestFirst(found.map(({ product }) => product.id)), unknown };
  } catch (error) {
    // A key for exports only: the service judges the IDs when the export is created.
    if (!mayNotRead(error) || !selection.wanted.every(isId)) throw error;
    return { ids: newestFirst(selection.wanted.map(({ name }) => name)), unknown: [] };
  }
}

const isId = ({ as, name }: WantedProduct): boolean =>
  as === "id" || (as === "either" && ulidPattern.test(name));

/** Finds the products that a selection names. References must match exactly. */
export async function findSelection(
  { wanted }: Selection,
  service: Service,
  onProgress: (done: number, total: number) => void,
): Promise<FoundSelection> {
  const references = wanted.filter((product) => !isId(product)).flatMap(({ name }) => namedReferences(name));
  const ids = wanted.filter(isId).map(({ name }) => name);
  const products = await withLookalikes(
    await productsBy({ ids, references }, service, { onProgress }),
    wanted,
    service,
  );
  const found: { named: WantedProduct; product: Product }[] = [];
  const unknown: WantedProduct[] = [];
  for (const named of wanted) {
    const product = productNamed(named, products);
    if (product === undefined) unknown.push(named);
    else found.push({ named, product });
  }
  const known = unknown.length === 0 ? products : await withSomeOthers(products, service);
  const proposalsFor = referenceProposals(known);
  return {
    found,
    unknown: unknown.map((product) => ({
      product,
      meant: product.as === "id" ? [] : proposalsFor(product.name),
    })),
  };
}

/** IDs are ULIDs, which sort by the time of creation: the catalogue is listed newest first (Exports). */
const newestFirst = (ids: readonly string[]): readonly string[] => [...new Set(ids)].sort().reverse();

/** Adds the products whose reference looks like an ID. */
async function withLookalikes(
  products: FoundProducts,
  wanted: readonly WantedProduct[],
  service: Service,
): Promise<FoundProducts> {
  const lookalikes = wanted.filter(
    ({ as, name }) => as === "either" && ulidPattern.test(name) && !products.byId.has(name),
  );
  if (lookalikes.length === 0) return products;
  const more = await productsBy({ ids: [], references: lookalikes.map(({ name }) => name) }, service);
  return {
    byId: products.byId,
    byReference: new Map([...products.byReference, ...more.byReference]),
    otherReferences: [...products.otherReferences, ...more.otherReferences],
  };
}

const productNamed = ({ name, as }: WantedProduct, products: FoundProducts): Product | undefined =>
  (as === "reference" ? undefined : products.byId.get(name)) ??
  (as === "id" ? undefined : (productOf(name, products) ?? undefined));

/** The IDs of all products in exports, newest first, each once: GET /v1/products also lists others. */
export async function wholeCatalogue(
  { client, signal }: Service,
  onProgress: (done: number) => void,
): Promise<readonly string[]> {
  const ids = new Set<string>();
  // Only IDs are read: products are listed even if none of their assets has the role, and pages stay small.
  const query = { limit: limits.page.max, role: "recoloring" };
  for await (const { product } of client.paginate(operations.exports.list, query, { signal })) {
    ids.add(product.id);
    onProgress(ids.size);
  }
  return [...ids];
}

/** The problem of a row of `--products-from` that names no product of the service. */
export const unknownProblem = ({ product, meant }: UnknownProduct): InputProblem => ({
  line: product.line,
  ...product.place,
  reference: product.name,
  param: product.as === "either" ? undefined : product.as === "id" ? "product_id" : "reference",
  code: "product_not_found",
  message: unknownProduct(product.name, meant),
});

/** The error for a file with products that the service does not have: exit 3. */
export const unknownInFile = (
  file: string,
  unknown: number,
  total: number,
  left = "nothing was exported",
): InputError =>
  new InputError(
    `${shownName(file)} names ${unknown === 1 ? "1 unknown product" : `${grouped(unknown)} unknown products`} out of ${grouped(total)}; ${left}`,
    "product_not_found",
    "Fix these lines and run the command again.",
  );

/** The error for flags with products that the service does not have: exit 5. */
export function unknownInFlags(unknown: readonly UnknownProduct[]): CatError {
  const [{ meant }] = unknown as [UnknownProduct];
  const names = unknown.slice(0, mostNames).map(({ product }) => JSON.stringify(product.name));
  if (unknown.length > mostNames) names.push(`${unknown.length - mostNames} others`);
  const shown = series(names, "or");
  const near = unknown.length > 1 ? "" : questionFor(meant, "", (word) => JSON.stringify(word));
  const search = "Use the complete reference, or search: cat products list --q TEXT";
  return new CatError(`no product has the ID or reference ${shown}`, {
    type: "not_found",
    code: "product_not_found",
    param: "--product",
    hint: near === "" ? search : `${near[0]!.toUpperCase()}${near.slice(1)} ${search}`,
  });
}

const mostNames = 5;
