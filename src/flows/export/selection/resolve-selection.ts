import { canonicalReference } from "../../../contract/import-row.ts";
import { ulidPattern } from "../../../contract/limits.ts";
import {
  type FoundProducts,
  meantReferences,
  productsBy,
  withSomeOthers,
} from "../../catalogue/find-products.ts";
import type { Service } from "../../service.ts";
import { mayNotRead } from "../../service-errors.ts";
import type { Selection, WantedProduct } from "./selection.ts";

/** A comparison with every reference takes time: so many unknown products get a proposal. */
const mostProposals = 20;

/** A name that no product has, and the references that it probably means. */
export interface UnknownProduct {
  readonly product: WantedProduct;
  readonly meant: readonly string[];
}

/** The products of a selection by ID. */
export interface ResolvedSelection {
  /** In the order of the catalogue, newest first, without duplicates. */
  readonly ids: readonly string[];
  readonly unknown: readonly UnknownProduct[];
}

/** Finds the products that a selection names. References must match exactly. */
export async function resolveSelection(
  { wanted }: Selection,
  service: Pick<Service, "client" | "signal" | "concurrency">,
  onProgress: (done: number, total: number) => void,
): Promise<ResolvedSelection> {
  const isId = ({ as, name }: WantedProduct) => as === "id" || (as === "either" && ulidPattern.test(name));
  const references = wanted.filter((one) => !isId(one)).map(({ name }) => canonicalReference(name));
  const ids = wanted.filter(isId).map(({ name }) => name);
  let found: FoundProducts;
  try {
    found = await productsBy({ ids, references }, service, onProgress);
  } catch (error) {
    // A key for exports only: the service judges the IDs when the export is created.
    if (!mayNotRead(error) || references.length > 0) throw error;
    return { ids: newestFirst(ids), unknown: [] };
  }
  found = await withLookalikes(found, wanted, service);
  const resolved = wanted.map((one) => ({ one, product: productNamed(one, found) }));
  const unknown = resolved.filter(({ product }) => product === undefined).map(({ one }) => one);
  const known = unknown.length === 0 ? found : await withSomeOthers(found, service);
  return {
    ids: newestFirst(resolved.flatMap(({ product }) => product?.id ?? [])),
    unknown: unknown.map((product, at) => {
      const hasProposal = product.as !== "id" && at < mostProposals;
      return { product, meant: hasProposal ? meantReferences(product.name, known) : [] };
    }),
  };
}

/** IDs are ULIDs, which sort by the time of creation: the catalogue is listed newest first (Exports). */
const newestFirst = (ids: readonly string[]): readonly string[] => [...new Set(ids)].sort().reverse();

/** Adds the products whose reference looks like an ID. */
async function withLookalikes(
  found: FoundProducts,
  wanted: readonly WantedProduct[],
  service: Pick<Service, "client" | "signal" | "concurrency">,
): Promise<FoundProducts> {
  const lookalikes = wanted.filter(
    ({ as, name }) => as === "either" && ulidPattern.test(name) && !found.byId.has(name),
  );
  if (lookalikes.length === 0) return found;
  const more = await productsBy({ ids: [], references: lookalikes.map(({ name }) => name) }, service);
  return {
    byId: found.byId,
    byReference: new Map([...found.byReference, ...more.byReference]),
    otherReferences: [...found.otherReferences, ...more.otherReferences],
  };
}

const productNamed = ({ name, as }: WantedProduct, { byId, byReference }: FoundProducts) =>
  (as === "reference" ? undefined : byId.get(name)) ??
  (as === "id" ? undefined : byReference.get(canonicalReference(name)));
