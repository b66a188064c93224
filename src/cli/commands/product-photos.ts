import type { Command } from "commander";
import { operations } from "../../contract/client-operations.ts";
import { canonicalReference, isLongerThan } from "../../contract/import-row.ts";
import { limits } from "../../contract/limits.ts";
import type { ProductImage } from "../../contract/resources/products.ts";
import type { Orientation } from "../../contract/value-sets.ts";
import { photosKind } from "../../flows/export/selection/columns.ts";
import type { App } from "../app/app.ts";
import { sendOnce } from "../app/send-once.ts";
import { command } from "../flags/command.ts";
import { type RawPrintFlags, readPrintFlags, withPrintFlags } from "../flags/print-flags.ts";
import { resourceId } from "../flags/values.ts";
import { entryFields, resourceForm } from "../resources/forms.ts";
import { findNamedProduct } from "./find-product.ts";
import { type RawRemovalFlags, readRemovalFlags, withRemovalFlags } from "./removal-flags.ts";

export const product = ["<ID|REFERENCE>", "ID or reference of the product"] as const;

export const attachCommand = (app: App): Command =>
  withPrintFlags(
    command("attach", {
      summary: "add photos to a product",
      usage: "ID|REFERENCE FILE|IMAGE_ID[:ORIENTATION] ... [flags]",
      about: "Add photos to a product. Local photos are uploaded first.",
      examples: [["add a photo of the back", "cat products attach DRESS-1 back.jpg:back"]],
    })
      .argument(...product)
      .argument("<PHOTO...>", "files or image IDs, each with :ORIENTATION if known"),
  ).action(async (idOrReference: string, images: string[], flags: RawPrintFlags) => {
    const printing = readPrintFlags(
      flags,
      resourceForm<ProductImage>(entryFields(operations.products.attach), ["id", "orientation", "origin"]),
    );
    const { attachable, photoArguments } = await import("../files/photo-arguments.ts");
    const { cwd, interrupt: signal } = app.context;
    // Before the first request.
    const photos = await photoArguments(images, cwd);
    await noteLongFields(app, { photos: photos.length });
    const { id, images: held } = await findNamedProduct(app, idOrReference);
    const attached = await attachable(photos, { client: () => app.client(), cwd, signal });
    // A photo that the product has already keeps its orientation, unless another one is typed.
    const known = new Map((Array.isArray(held) ? held : []).map((image) => [image.id, image.orientation]));
    const body = {
      images: attached.map(({ image_id, orientation }) => {
        const kept =
          orientation === "unlabeled" ? (known.get(image_id) as Orientation | undefined) : undefined;
        return { image_id, orientation: kept ?? orientation };
      }),
    };
    const client = await app.client();
    const stored = await sendOnce(
      (options) => client.products.attach({ product_id: id, body }, { ...options, signal }),
      `Check the photos before you attach them again: cat products get ${id}`,
    );
    await app.io.show(printing, stored);
  });

/** Removes a photo; exits with 5 if the product lacks it, and 3 if it is the last one. */
export const detachCommand = (app: App): Command => {
  const subcommand = command("detach", {
    summary: "remove photos from products",
    usage: "ID|REFERENCE IMAGE_ID | --from FILE [flags]",
    about:
      "Remove a photo from a product, or the photos of a file. The last photo of a product cannot be removed.\n\n" +
      "If a removal with --from stops, run the same command again to resume it.",
    examples: [
      ["remove a photo", "cat products detach DRESS-1 01KE6W9ZJ8Q3V5X7B2D4F6H8JK"],
      ["see which photos a file would remove", "cat products detach --from photos.csv --dry-run"],
      ["remove them", "cat products detach --from photos.csv"],
    ],
  })
    .argument("[ID|REFERENCE]", product[1])
    .argument("[IMAGE_ID]", "ID of the image, as in cat products get");
  const flags = {
    from: "remove the photos of a file: a table with reference or product_id, and image_id; - is stdin",
    limit: "--max-removals",
    things: "photos",
  } as const;
  return withRemovalFlags(subcommand, flags).action(
    async (idOrReference: string | undefined, image: string | undefined, raw: RawRemovalFlags) => {
      const args = [idOrReference, image].filter((arg) => arg !== undefined);
      const missing = ["ID|REFERENCE", "IMAGE_ID"][args.length];
      const help = "cat products detach";
      const removal = readRemovalFlags(raw, args, { kind: photosKind, missing, help });
      if (removal === null) return detachPhoto(app, idOrReference!, image!);
      const { removeFromFile } = await import("./remove-from-file.ts");
      await removeFromFile(app, removal, (await import("./removal-kinds.ts")).detachment);
    },
  );
};

async function detachPhoto(app: App, idOrReference: string, image: string): Promise<void> {
  const image_id = resourceId(image, "image");
  const { id, reference } = await findNamedProduct(app, idOrReference);
  const client = await app.client();
  await client.products.detach({ product_id: id, image_id }, { signal: app.context.interrupt });
  if (app.io.json) await app.io.jsonData({ product_id: id, image_id, detached: true });
  else await app.io.note(app.io.visible(`Removed the photo ${image_id} from ${reference ?? id}.`));
}

/** Notes what is larger than a row of an import may be (Limits): here the service decides. */
export async function noteLongFields(
  app: App,
  fields: { reference?: string; name?: string; description?: string | null; photos?: number },
): Promise<void> {
  const { reference, name, description, photos = 0 } = fields;
  const texts = [
    ["reference", reference && canonicalReference(reference), limits.referenceLength.max],
    ["name", name, limits.nameLength.max],
    ["description", description, limits.descriptionLength.max],
  ] as const;
  for (const [field, text, most] of texts) {
    if (!text || !isLongerThan(text, most)) continue;
    await app.io.note(
      `The ${field} has ${[...text].length} characters; imports allow at most ${most}. The service decides.`,
    );
  }
  const { max } = limits.imagesPerProduct;
  if (photos > max) await app.io.note(`${photos} photos; imports allow at most ${max}. The service decides.`);
}
