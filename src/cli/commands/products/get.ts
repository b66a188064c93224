import type { Command } from "commander";
import type { Client } from "../../../client/client.ts";
import { ulidPattern } from "../../../contract/ids.ts";
import { canonicalReference } from "../../../contract/import-row.ts";
import { operations } from "../../../contract/operations.ts";
import type { Product } from "../../../contract/resources/product.ts";
import { CatError } from "../../../errors.ts";
import type { App } from "../../app.ts";
import { command, examples } from "../../command.ts";
import { UsageError } from "../../errors.ts";

/** `cat products get`: parses the argument; `run` does the work. */
export const getCommand = (app: App, run = getProduct): Command =>
  command("get")
    .summary("show one product")
    .usage("ID|REFERENCE [flags]")
    .description("Show one product, by its id or by your own reference.")
    .argument("<ID|REFERENCE>", "the product's id or reference")
    .addHelpText(
      "after",
      examples([
        ["a product by your reference", "cat products get DRESS-001"],
        ["its id, for a script", "cat products get DRESS-001 --json | jq -r .id"],
      ]),
    )
    .action(async (idOrReference: string) => {
      if (idOrReference.trim() === "") throw new UsageError("the id or reference is empty");
      await run(app, { idOrReference });
    });

/** Prints one product; not found ends in exit 5. */
export async function getProduct(app: App, input: { idOrReference: string }): Promise<void> {
  const product = await findProduct(await app.client(), input.idOrReference, app.context.interrupt);
  await app.io.resource(product);
}

/** The product with this id or, failing that, with exactly this reference. */
export async function findProduct(
  client: Client,
  idOrReference: string,
  signal: AbortSignal,
): Promise<Product> {
  const wanted = canonicalReference(idOrReference);
  const found =
    (ulidPattern.test(wanted) ? await byId(client, wanted, signal) : null) ??
    (await byReference(client, wanted, signal));
  if (found !== null) return found;
  throw new CatError(`there is no product with the id or reference ${JSON.stringify(wanted)}`, {
    type: "not_found",
    code: "product_not_found",
    hint: "A reference must be given whole; to search: cat products list --q TEXT",
  });
}

async function byId(client: Client, id: string, signal: AbortSignal): Promise<Product | null> {
  try {
    return await client.products.get({ product_id: id }, { signal });
  } catch (error) {
    // It may be a reference that looks like an id.
    if (error instanceof CatError && error.status === 404) return null;
    throw error;
  }
}

/** The service cannot look a reference up: `q` searches free text, so the results are compared one by one. */
async function byReference(client: Client, reference: string, signal: AbortSignal): Promise<Product | null> {
  for await (const product of client.paginate(operations.products.list, { q: reference }, { signal })) {
    if (canonicalReference(product.reference ?? "") === reference) return product;
  }
  return null;
}
