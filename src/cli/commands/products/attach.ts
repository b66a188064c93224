import type { Command } from "commander";
import { ProductImage } from "../../../contract/resources/product.ts";
import type { Orientation } from "../../../contract/value-sets.ts";
import type { App } from "../../app/app.ts";
import { sendOnce } from "../../app/send-once.ts";
import { command, examples } from "../../flags/command.ts";
import { type RawPrintFlags, readPrintFlags, withPrintFlags } from "../../flags/print-flags.ts";
import type { Printing } from "../../output/printing.ts";
import { resourceForm } from "../../resources/resource-form.ts";
import { noteLongFields } from "./note-long-fields.ts";
import { productOf } from "./product-of.ts";

/** `cat products attach`: parses the arguments; `run` does the work. */
export const attachCommand = (app: App, run = attachPhotos): Command =>
  withPrintFlags(
    command("attach")
      .summary("add photos to a product")
      .usage("ID|REFERENCE FILE|IMAGE_ID[:ORIENTATION] ... [flags]")
      .description("Add photos to a product. Local photos are uploaded first.")
      .argument("<ID|REFERENCE>", "ID or reference of the product")
      .argument("<PHOTO...>", "files or image IDs, each with :ORIENTATION if known"),
  )
    .addHelpText(
      "after",
      examples([["add a photo of the back", "cat products attach DRESS-1 back.jpg:back"]]),
    )
    .action(async (product: string, images: string[], flags: RawPrintFlags) =>
      run(app, { product, images, printing: readPrintFlags(flags, photoForm) }),
    );

const photoForm = resourceForm(ProductImage, ["id", "orientation", "origin"]);

/** Adds photos to a product and prints them as the service stored them. */
export async function attachPhotos(
  app: App,
  {
    product,
    images,
    printing,
  }: { product: string; images: readonly string[]; printing: Printing<ProductImage> },
): Promise<void> {
  const { attachable, checkedForProduct, photoArgument } = await import("../../files/photo-arguments.ts");
  const { cwd, interrupt: signal } = app.context;
  const photos = images.map(photoArgument);
  // Before the first request.
  await checkedForProduct(photos, cwd);
  await noteLongFields(app, { photos: photos.length });
  const { id, images: held } = await productOf(app, product);
  const attached = await attachable(photos, { client: () => app.client(), cwd, signal });
  // A photo that the product has already keeps its orientation, unless another one is typed.
  const known = new Map((Array.isArray(held) ? held : []).map((one) => [one.id, one.orientation]));
  const body = {
    images: attached.map(({ image_id, orientation }) => ({
      image_id,
      orientation:
        orientation === "unlabeled"
          ? ((known.get(image_id) as Orientation | undefined) ?? orientation)
          : orientation,
    })),
  };
  const client = await app.client();
  const photosOf = await sendOnce(
    (options) => client.products.attach({ product_id: id, body }, { ...options, signal }),
    `Check the photos before you attach them again: cat products get ${id}`,
  );
  await app.io.show(printing, photosOf);
}
