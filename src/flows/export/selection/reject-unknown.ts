import { questionFor } from "../../../contract/did-you-mean.ts";
import { CatError } from "../../../errors.ts";
import { unknownProduct } from "../../catalogue/find-products.ts";
import type { Problem } from "../../rows/problem.ts";
import { shownName } from "../../rows/shown-name.ts";
import { InputError } from "../../rows/source.ts";
import { grouped } from "../../words.ts";
import type { UnknownProduct } from "./resolve-selection.ts";

/** The problem of a row of `--products-from` that names no product of the service. */
export const unknownProblem = ({ product, meant }: UnknownProduct): Problem => ({
  line: product.line,
  reference: product.name,
  param: product.as === "either" ? undefined : product.as === "id" ? "product_id" : "reference",
  code: "product_not_found",
  message: unknownProduct(product.name, meant),
});

/** The error for a file with products that the service does not have: exit 3. */
export const unknownInFile = (file: string, unknown: number, total: number): InputError =>
  new InputError(
    `${shownName(file)} names ${unknown === 1 ? "1 unknown product" : `${grouped(unknown)} unknown products`} out of ${grouped(total)}; nothing was exported`,
    "product_not_found",
    "Fix the lines listed above and run the command again.",
  );

/** The error for flags with products that the service does not have: exit 5. */
export function unknownInFlags(unknown: readonly UnknownProduct[]): CatError {
  const [{ meant }] = unknown as [UnknownProduct];
  const names = unknown.slice(0, mostNames).map(({ product }) => JSON.stringify(product.name));
  if (unknown.length > mostNames) names.push(`${unknown.length - mostNames} others`);
  const shown = names.length === 1 ? names[0]! : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
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
