import { didYouMean, questionFor } from "../../contract/did-you-mean.ts";
import { referenceOfProduct } from "../../contract/import-row.ts";
import { limits } from "../../contract/limits.ts";
import type { Service } from "../service.ts";
import type { FoundProducts } from "./find-products.ts";

/** What was found, with the references of the newest products if the search came across no others, to propose them. */
export async function withSomeOthers(
  found: FoundProducts,
  { client, signal }: Pick<Service, "client" | "signal">,
): Promise<FoundProducts> {
  if (found.otherReferences.length > 0) return found;
  const { data } = await client.products.list({ limit: limits.page.max }, { signal });
  return { ...found, otherReferences: data.flatMap((product) => referenceOfProduct(product) ?? []) };
}

/** The references that a name with no product probably means; empty if unclear. */
export const meantReferences = (
  name: string,
  { otherReferences, byReference }: Pick<FoundProducts, "otherReferences" | "byReference">,
): readonly string[] => didYouMean(name, [...byReference.keys(), ...otherReferences]);

/** The message for a name that no product has, with the nearest references, or `otherwise`. */
export const unknownProduct = (
  name: string,
  meant: readonly string[],
  otherwise = " in this organization",
): string =>
  `no product ${JSON.stringify(name)}${questionFor(meant, ": ", (word) => JSON.stringify(word)) || otherwise}`;
