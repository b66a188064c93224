import type { Command } from "commander";
import type { App } from "../../app/app.ts";
import { command, examples } from "../../flags/command.ts";
import { resourceId } from "../../flags/resource-id.ts";
import { productOf } from "./product-of.ts";

/** `cat products detach`: parses the arguments; `run` does the work. */
export const detachCommand = (app: App, run = detachPhoto): Command =>
  command("detach")
    .summary("remove a photo from a product")
    .usage("ID|REFERENCE IMAGE_ID [flags]")
    .description("Remove a photo from a product. The last photo of a product cannot be removed.")
    .argument("<ID|REFERENCE>", "ID or reference of the product")
    .argument("<IMAGE_ID>", "ID of the image, as in cat products get")
    .addHelpText(
      "after",
      examples([["remove a photo", "cat products detach DRESS-1 01KE6W9ZJ8Q3V5X7B2D4F6H8JK"]]),
    )
    .action(async (product: string, image: string) =>
      run(app, { product, imageId: resourceId(image, "image") }),
    );

/** Removes a photo from a product; exits with 5 if the product does not have it, and 3 if it is the last one. */
export async function detachPhoto(
  app: App,
  { product, imageId }: { product: string; imageId: string },
): Promise<void> {
  const { id, reference } = await productOf(app, product);
  const client = await app.client();
  await client.products.detach({ product_id: id, image_id: imageId }, { signal: app.context.interrupt });
  if (app.io.json) await app.io.jsonData({ product_id: id, image_id: imageId, detached: true });
  else await app.io.note(app.io.visible(`Removed the photo ${imageId} from ${reference ?? id}.`));
}
