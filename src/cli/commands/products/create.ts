import { type Command, Option } from "commander";
import { sexes } from "../../../contract/value-sets.ts";
import { CatError } from "../../../errors.ts";
import type { App } from "../../app/app.ts";
import type { PhotoArgument } from "../../files/photo-arguments.ts";
import { command, examples } from "../../flags/command.ts";
import { noteLongFields } from "./note-long-fields.ts";

interface CreateInput {
  reference: string;
  name: string;
  sex: (typeof sexes)[number] | undefined;
  description: string | undefined;
  /** Photos as typed. */
  images: readonly string[];
}

/** `cat products create`: parses the flags; `run` does the work. */
export const createCommand = (app: App, run = createProduct): Command =>
  command("create")
    .summary("create a product")
    .usage("--reference REFERENCE --name NAME --image PHOTO ... [flags]")
    .description(
      "Create one product. Local photos are uploaded first. To create or update many products: cat import FILE.",
    )
    .requiredOption("--reference <REFERENCE>", "your product code")
    .requiredOption("--name <NAME>", "name of the product")
    .addOption(new Option("--sex <SEX>", "who wears it").choices(sexes))
    .option("--description <TEXT>", "description of the product")
    .addOption(
      new Option("--image <FILE|IMAGE_ID[:ORIENTATION]>", "photo, with its orientation; repeatable")
        .argParser((text: string, earlier: string[] = []) => [...earlier, text])
        .makeOptionMandatory(),
    )
    .addHelpText(
      "after",
      examples([
        [
          "create a product with two photos",
          'cat products create --reference DRESS-1 --name "Linen dress" --image front.jpg:front --image back.jpg:back',
        ],
      ]),
    )
    .action(async ({ image, ...fields }: Omit<CreateInput, "images"> & { image: string[] }) =>
      run(app, { ...fields, images: image }),
    );

/** Checks the fields and photos, uploads local photos, and creates the product. */
export async function createProduct(app: App, { images, ...fields }: CreateInput): Promise<void> {
  const { attachable, photoArgument } = await import("../../files/photo-arguments.ts");
  const photos: PhotoArgument[] = images.map(photoArgument);
  rejectEmpty(fields);
  await noteLongFields(app, { ...fields, photos: photos.length });
  const { cwd, interrupt: signal } = app.context;
  const uploaded = await attachable(photos, { client: () => app.client(), cwd, signal });
  const client = await app.client();
  const body = { ...fields, images: uploaded };
  const { sex, description, ...rest } = body;
  const created = await client.products.create(
    {
      body: {
        ...rest,
        ...(sex !== undefined && { sex }),
        ...(description !== undefined && { description }),
      },
    },
    { signal },
  );
  await app.io.resource(created);
}

/** Throws a CatError (exit 3) for an empty reference or name. */
function rejectEmpty(fields: Pick<CreateInput, "reference" | "name">): void {
  const empty = (["reference", "name"] as const).filter((field) => fields[field].trim() === "");
  if (empty.length === 0) return;
  throw new CatError(empty.map((field) => `${field} is empty`).join("; "), {
    type: "input",
    code: "invalid_request",
    param: empty[0],
    hint: "Nothing was sent. Fix the value and run the command again.",
  });
}
