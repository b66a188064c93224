import type { Command } from "commander";
import type { Product } from "../../../contract/resources/product.ts";
import type { App } from "../../app/app.ts";
import { command, examples } from "../../flags/command.ts";
import { type RawPrintFlags, readPrintFlags, withPrintFlags } from "../../flags/print-flags.ts";
import { thumbnailFlag } from "../../flags/thumbnail-flag.ts";
import type { Printing } from "../../output/printing.ts";
import { productForm } from "./columns.ts";
import { productOf } from "./product-of.ts";

/** `cat products get`: parses the argument; `run` does the work. */
export const getCommand = (app: App, run = getProduct): Command =>
  withPrintFlags(
    command("get")
      .summary("show a product")
      .usage("ID|REFERENCE [flags]")
      .description("Show one product, found by its ID or by your reference.")
      .argument("<ID|REFERENCE>", "ID or reference of the product")
      .addOption(thumbnailFlag()),
  )
    .addHelpText(
      "after",
      examples([
        ["show a product by its reference", "cat products get DRESS-001"],
        ["print only the ID of a product", "cat products get DRESS-001 --json | jq -r .id"],
      ]),
    )
    .action(async (idOrReference: string, { thumbnail, ...flags }: RawPrintFlags & { thumbnail: boolean }) =>
      run(app, { idOrReference, printing: readPrintFlags(flags, productForm), thumbnail }),
    );

/** Prints one product, with its first photo on a terminal that can show it; not found ends in exit 5. */
export async function getProduct(
  app: App,
  {
    idOrReference,
    printing,
    thumbnail,
  }: { idOrReference: string; printing: Printing<Product>; thumbnail: boolean },
): Promise<void> {
  const product = await productOf(app, idOrReference);
  await app.io.resource(product, printing);
  if (!app.context.stdout.isTTY) return;
  const { showThumbnails } = await import("../../thumbnails/show-thumbnails.ts");
  await showThumbnails(app, [{ caption: null, fetch: (fetcher) => fetcher.photo(product) }], {
    thumbnail,
    printing,
  });
}
