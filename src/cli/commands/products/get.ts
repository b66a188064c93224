import type { Command } from "commander";
import type { App } from "../../app/app.ts";
import { command, examples } from "../../flags/command.ts";
import { productOf } from "./product-of.ts";

/** `cat products get`: parses the argument; `run` does the work. */
export const getCommand = (app: App, run = getProduct): Command =>
  command("get")
    .summary("show a product")
    .usage("ID|REFERENCE [flags]")
    .description("Show one product, found by its ID or by your reference.")
    .argument("<ID|REFERENCE>", "ID or reference of the product")
    .addHelpText(
      "after",
      examples([
        ["show a product by its reference", "cat products get DRESS-001"],
        ["print only the ID of a product", "cat products get DRESS-001 --json | jq -r .id"],
      ]),
    )
    .action(async (idOrReference: string) => run(app, { idOrReference }));

/** Prints one product; not found ends in exit 5. */
export async function getProduct(app: App, input: { idOrReference: string }): Promise<void> {
  await app.io.resource(await productOf(app, input.idOrReference));
}
