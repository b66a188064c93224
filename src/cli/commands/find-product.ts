import type { Product } from "../../contract/resources/products.ts";
import { CatError } from "../../errors.ts";
import type { App } from "../app/app.ts";
import { UsageError } from "../context/errors.ts";

/** The product by ID or reference. Throws UsageError if empty, else `not_found` (exit 5). */
export async function findNamedProduct(app: App, idOrReference: string): Promise<Product> {
  if (idOrReference.trim() === "") {
    const hint = "Use the complete ID or reference.";
    throw new UsageError("the ID or reference is empty", { param: "product", hint });
  }
  const flow = await import("../../flows/catalogue/lookups.ts");
  const client = await app.client();
  const product = await flow.findProduct(idOrReference, { client, signal: app.context.interrupt });
  if (product !== null) return product;
  throw new CatError(`no product has the ID or reference ${JSON.stringify(idOrReference.trim())}`, {
    type: "not_found",
    code: "product_not_found",
    hint: "Use the complete reference, or search: cat products list --q TEXT",
  });
}
