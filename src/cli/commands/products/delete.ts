import type { Command } from "commander";
import type { App } from "../../app/app.ts";
import { confirmAction } from "../../app/confirm-action.ts";
import { command, examples } from "../../flags/command.ts";
import { counted } from "../../output/numbers.ts";
import { productOf } from "./product-of.ts";

/** How many products the question names. */
const namedProducts = 5;

/** `cat products delete`: parses the arguments; `run` does the work. */
export const deleteCommand = (app: App, run = deleteProducts): Command =>
  command("delete")
    .summary("delete products")
    .usage("ID|REFERENCE ... [flags]")
    .description("Delete products. This cannot be undone.")
    .argument("<ID|REFERENCE...>", "IDs or references of the products")
    .addHelpText(
      "after",
      examples([
        ["delete a product", "cat products delete DRESS-1"],
        ["delete products in a script", "cat products delete DRESS-1 DRESS-2 --yes"],
      ]),
    )
    .action(async (products: string[]) => run(app, { products }));

/** Deletes products after a question that names them. Deletes none if one of them is not found (exit 5). */
export async function deleteProducts(app: App, { products }: { products: readonly string[] }): Promise<void> {
  const found = new Map<string, { id: string; name: string; reference: string | null }>();
  for (const product of products) {
    const one = await productOf(app, product);
    found.set(one.id, one);
  }
  const shown = [...found.values()].map(({ reference, name, id }) => `${reference ?? id} (${name})`);
  const rest = shown.length - namedProducts;
  const names = shown.slice(0, namedProducts).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
  const what = counted(found.size, "product");
  await confirmAction(app, {
    question: `Delete ${what}?`,
    about: names,
    doing: `deleting ${what} (${names})`,
    left: "nothing was deleted",
  });
  const client = await app.client();
  let deleted = 0;
  for (const { id, reference } of found.values()) {
    try {
      await client.products.delete({ product_id: id }, { signal: app.context.interrupt });
    } catch (error) {
      if (deleted > 0) await app.io.line(`Deleted ${deleted} of ${what}.`);
      throw error;
    }
    deleted++;
    if (app.io.json) await app.io.jsonData({ id, reference, deleted: true });
  }
  await app.io.note(`Deleted ${what}.`);
}
