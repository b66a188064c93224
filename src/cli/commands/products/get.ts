import type { Command } from "commander";
import type { App } from "../../app/app.ts";
import { UsageError } from "../../context/errors.ts";
import { command, examples } from "../../flags/command.ts";
import { productOf } from "./product-of.ts";

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
  await app.io.resource(await productOf(app, input.idOrReference));
}
