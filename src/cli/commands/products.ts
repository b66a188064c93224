import { type Command, Option } from "commander";
import { operations } from "../../contract/client-operations.ts";
import type { Product } from "../../contract/resources/products.ts";
import { sexes } from "../../contract/value-sets.ts";
import { CatError } from "../../errors.ts";
import { productsKind } from "../../flows/export/selection/columns.ts";
import { carriedOut } from "../../flows/service-errors.ts";
import { withoutUnseenEnds } from "../../text.ts";
import type { App } from "../app/app.ts";
import { showDone } from "../app/send-once.ts";
import { UsageError } from "../context/errors.ts";
import { command, group } from "../flags/command.ts";
import { sheetFormats, thumbnailFlag } from "../flags/common-flags.ts";
import { type RawPrintFlags, readPrintFlags, withPrintFlags } from "../flags/print-flags.ts";
import { either } from "../flags/usage-error.ts";
import { several } from "../flags/values.ts";
import type { Column } from "../output/table.ts";
import { replyFields } from "../resources/forms.ts";
import { listResource } from "../resources/list-resource.ts";
import { type RawCoverageFlags, readCoverageFlags, withCoverageFlags } from "./coverage-flags.ts";
import { findNamedProduct } from "./find-product.ts";
import type { SheetFlags } from "./import-sheet.ts";
import { attachCommand, detachCommand, noteLongFields, product } from "./product-photos.ts";
import { type RawRemovalFlags, readRemovalFlags, withRemovalFlags } from "./removal-flags.ts";

/** `cat products`: the products in the catalogue. */
export const productsCommand = (app: App): Command =>
  group(
    "products",
    "View and change the products in your catalogue. To import many: cat import FILE.",
    [
      listCommand,
      getCommand,
      exportCommand,
      coverageCommand,
      createCommand,
      updateCommand,
      deleteCommand,
      attachCommand,
      detachCommand,
    ].map((verb) => verb(app)),
  );

/** The columns of products in tables and CSV files; the names are those of the service. */
const columns: readonly Column<Product>[] = [
  { name: "id", value: (product) => product.id },
  { name: "reference", value: (product) => product.reference },
  { name: "name", value: (product) => product.name },
  { name: "description", value: (product) => product.description, only: "csv" },
  { name: "sex", value: (product) => product.sex },
  { name: "images", value: ({ images }) => (Array.isArray(images) ? images.length : null), only: "table" },
  // As in an import file, but without orientations: `--for-import` prints those.
  { name: "images", value: photoIds, only: "csv" },
  { name: "created_at", value: (product) => product.created_at, only: "csv" },
  { name: "updated_at", value: (product) => product.updated_at, only: "csv" },
];

/** The IDs of the photos; null if the response has no list of them. */
function photoIds({ images }: Product): string | null {
  if (!Array.isArray(images)) return null;
  return images.flatMap((image: { id?: unknown } | null) => image?.id ?? []).join("|");
}

const listCommand = (app: App): Command =>
  listResource(app, {
    summary: "list or search products",
    about: "List or search the products in your catalogue.",
    operation: operations.products.list,
    columns,
    filters: [
      new Option("--q <TEXT>", "only products with TEXT in the reference or name"),
      new Option("--for-import", "all of them as a file that cat import reads without a change").conflicts([
        "fields",
        "formulaGuard",
      ]),
    ],
    async printedAs(flags: { q?: string; forImport?: true }) {
      if (flags.forImport === undefined) return false;
      const { printImportSheet } = await import("./import-sheet.ts");
      await printImportSheet(app, flags);
      return true;
    },
    completes: { kind: "products", name: ({ reference, name, id }) => [reference ?? id, name ?? ""] },
    none: ({ q }) => (q === undefined ? "No products yet." : "No products found."),
    examples: [
      ["list the first 25 products", "cat products list"],
      ["print the references of all dresses", "cat products list --q dress --all --json | jq -r .reference"],
    ],
  });

/** Prints one product, with its first photo on a terminal that can show it; not found ends in exit 5. */
const getCommand = (app: App): Command =>
  withPrintFlags(
    command("get", {
      summary: "show a product",
      usage: "ID|REFERENCE [flags]",
      about: "Show one product, found by its ID or by your reference.",
      examples: [
        ["show a product by its reference", "cat products get DRESS-001"],
        ["print only the ID of a product", "cat products get DRESS-001 --json | jq -r .id"],
      ],
    })
      .argument(...product)
      .addOption(thumbnailFlag()),
  ).action(async (idOrReference: string, flags: RawPrintFlags & { thumbnail: boolean }) => {
    const printing = readPrintFlags(flags, { columns, fields: replyFields(operations.products.get) });
    const product = await findNamedProduct(app, idOrReference);
    await app.io.resource(product, printing);
    if (!app.context.stdout.isTTY) return;
    const { showThumbnails } = await import("../app/thumbnails.ts");
    await showThumbnails(app, [{ caption: null, fetch: (fetcher) => fetcher.front(product) }], {
      thumbnail: flags.thumbnail,
      printing,
    });
  });

const exportCommand = (app: App): Command =>
  command("export", {
    summary: "save your products as a sheet to edit and import again",
    about:
      "Save your products as a sheet that cat import reads. Edit it and import it: only rows that differ from the service are sent, and photos keep their orientation.",
    examples: [
      ["save all products as a workbook", "cat products export products.xlsx"],
      ["see what the edited sheet would change", "cat import products.xlsx --plan"],
      ["import it", "cat import products.xlsx"],
      ["save the dresses as CSV for Excel", "cat products export dresses.csv --q dress --excel"],
    ],
  })
    .argument("<FILE>", ".csv, .xlsx or .ndjson file to write, or - for stdout")
    .addOption(new Option("--q <TEXT>", "only products with TEXT in the reference or name"))
    .addOption(
      new Option("--format <FORMAT>", "file format (default: from the file name)").choices(sheetFormats),
    )
    .option("--excel", "write CSV that opens right in Excel")
    .addOption(new Option("--no-excel", "write plain CSV, whatever the profile says"))
    .action(async (name: string, flags: SheetFlags) =>
      (await import("./import-sheet.ts")).exportSheet(app, name, flags),
    );

const coverageCommand = (app: App): Command =>
  withCoverageFlags(
    command("coverage", {
      summary: "list which images products have, or a sheet of missing ones",
      usage: "[FILE] [flags]",
      about:
        "List for each product which photos, beautified shots and try-ons exist. Images that a review has rejected are only counted.\n\n" +
        "With --looks, write a sheet of the images that do not exist, which cat tryon or cat beautify reads.",
      examples: [
        ["list all products", "cat products coverage"],
        ["list the dresses without a try-on", "cat products coverage --q dress --without tryon"],
        [
          "list the products without any generated image",
          "cat products coverage --without tryon --without beautifier",
        ],
        [
          "write the try-ons that the products of a file lack",
          "cat products coverage products.csv --looks looks.xlsx --model Mia --background studio --angle full-front",
        ],
        [
          "write the beautified shots that are missing",
          "cat products coverage --looks shots.xlsx --subtype clothing --background white --angle front",
        ],
      ],
    }),
  ).action(async (file: string | undefined, raw: RawCoverageFlags) => {
    const flags = readCoverageFlags(file, raw);
    const { printCoverage } = await import("./coverage.ts");
    await printCoverage(app, flags, raw);
  });

interface CreateFlags {
  reference: string;
  name: string;
  sex?: (typeof sexes)[number];
  description?: string;
  /** Photos as typed. */
  image: string[];
}

/** A flag of `create`, checked with the others: commander stops at the first problem. */
const uncheckedSex = new Option("--sex <SEX>", "who wears it").choices(sexes).argParser((text) => text);

const createCommand = (app: App): Command =>
  command("create", {
    summary: "create a product",
    usage: "--reference REFERENCE --name NAME --image PHOTO ... [flags]",
    about:
      "Create one product. Local photos are uploaded first. To create or update many products: cat import FILE.",
    examples: [
      [
        "create a product with two photos",
        'cat products create --reference DRESS-1 --name "Linen dress" --image front.jpg:front --image back.jpg:back',
      ],
    ],
  })
    .requiredOption("--reference <REFERENCE>", "your product code", withoutUnseenEnds)
    .requiredOption("--name <NAME>", "name of the product", withoutUnseenEnds)
    .addOption(uncheckedSex)
    .option("--description <TEXT>", "description of the product")
    .requiredOption(
      "--image <FILE|IMAGE_ID[:ORIENTATION]>",
      "photo, with its orientation; repeatable",
      several,
    )
    .action((flags: CreateFlags) => createProduct(app, flags));

/** Checks the fields and photos, uploads local photos, and creates the product. */
async function createProduct(app: App, { image, ...fields }: CreateFlags): Promise<void> {
  const { attachable, photoArguments } = await import("../files/photo-arguments.ts");
  const { cwd, interrupt: signal } = app.context;
  const photos = await photoArguments(image, cwd, [
    () => checkSex(fields.sex),
    ...(["reference", "name"] as const).map((field) => () => {
      if (fields[field] === "")
        throw invalidField(field, { code: "invalid_request", message: `${field} is empty` });
    }),
    () => checkReference(fields.reference),
  ]);
  await noteLongFields(app, { ...fields, photos: photos.length });
  const images = await attachable(photos, { client: () => app.client(), cwd, signal });
  const client = await app.client();
  const created = carriedOut(client.products.create({ body: { ...fields, images } }, { signal }));
  await showDone(created, (shown) => app.io.resource(shown));
}

const invalidField = (param: string, { code, message }: { code: string; message: string }): CatError =>
  new CatError(message, {
    type: "input",
    code,
    param,
    hint: "Nothing was sent. Fix the value and run the command again.",
  });

/** Rejects a reference that a row of an import could not have. */
async function checkReference(reference: string | undefined): Promise<void> {
  const { referenceProblems } = await import("../../flows/import/references.ts");
  const [problem] = referenceProblems({ reference });
  if (problem !== undefined) throw invalidField("reference", problem);
}

function checkSex(sex: string | undefined): void {
  if (sex === undefined || sexes.some((known) => known === sex)) return;
  throw new UsageError(`invalid --sex ${JSON.stringify(sex)}: use ${either(sexes)}`, {
    code: "invalid_argument",
    hint: "See: cat products create --help",
  });
}

/** Fields that can be empty (Products, PATCH). */
const clearable = ["description", "sex"] as const;

type Clearable = (typeof clearable)[number];

interface UpdateFlags extends Partial<Omit<CreateFlags, "image">> {
  clear?: Clearable[];
}

/** Changes a product and prints it; not found ends in exit 5, a reference in use in exit 6. */
const updateCommand = (app: App): Command =>
  command("update", {
    summary: "change fields of a product",
    usage: "ID|REFERENCE [flags]",
    about: "Change fields of a product. Fields without a flag stay as they are.",
    examples: [
      ["change the name", 'cat products update DRESS-1 --name "Linen dress, long"'],
      ["remove the description", "cat products update DRESS-1 --clear description"],
    ],
  })
    .argument(...product)
    .option("--name <NAME>", "new name", withoutUnseenEnds)
    .option("--reference <REFERENCE>", "new reference", withoutUnseenEnds)
    .option("--description <TEXT>", "new description")
    .addOption(new Option("--sex <SEX>", "who wears it").choices(sexes))
    .option(
      "--clear <FIELD>",
      "remove the value of description or sex; repeatable",
      (field: string, earlier: Clearable[] = []) => [...earlier, toClearable(field)],
    )
    .action(async (idOrReference: string, { clear = [], ...set }: UpdateFlags) => {
      const conflicts = clear.filter((field) => set[field] !== undefined);
      if (conflicts.length > 0) {
        const texts = conflicts.map((field) => `--clear ${field} cannot be used with --${field}`);
        throw new UsageError(texts.join("; "), { hint: "Remove one of them." });
      }
      const change = { ...set, ...Object.fromEntries(clear.map((field) => [field, null])) };
      if (Object.keys(change).length === 0) {
        throw new UsageError("nothing to change", {
          code: "nothing_to_change",
          hint: "Add --name, --reference, --description, --sex or --clear.",
        });
      }
      await checkReference(change.reference);
      await noteLongFields(app, change);
      const { id } = await findNamedProduct(app, idOrReference);
      const client = await app.client();
      const { interrupt: signal } = app.context;
      const updated = carriedOut(client.products.update({ product_id: id, body: change }, { signal }));
      await showDone(updated, (shown) => app.io.resource(shown));
    });

function toClearable(text: string): Clearable {
  const field = clearable.find((name) => name === text);
  if (field !== undefined) return field;
  throw new UsageError(`invalid --clear ${JSON.stringify(text)}: use description or sex`, {
    param: "--clear",
    hint: "A name and a reference cannot be empty.",
  });
}

const deleteCommand = (app: App): Command => {
  const subcommand = command("delete", {
    summary: "delete products",
    usage: "ID|REFERENCE ... | --from FILE [flags]",
    about:
      "Delete products. This cannot be undone.\n\n" +
      "A product that another client changes meanwhile is kept. If a deletion with --from stops, run the same command again to resume it.",
    examples: [
      ["delete a product", "cat products delete DRESS-1"],
      ["delete products in a script", "cat products delete DRESS-1 DRESS-2 --yes"],
      ["see which products a file would delete", "cat products delete --from old.csv --dry-run"],
      ["delete them", "cat products delete --from old.csv"],
    ],
  }).argument("[ID|REFERENCE...]", "IDs or references of the products");
  const flags = {
    from: "delete the products of a file: a table with IDs or references, or one of them per line; - is stdin",
    limit: "--max-delete",
    things: "products",
  } as const;
  return withRemovalFlags(subcommand, flags).action(async (products: string[], raw: RawRemovalFlags) => {
    const missing = products.length === 0 ? "ID|REFERENCE" : undefined;
    const help = "cat products delete";
    const removal = readRemovalFlags(raw, products, { kind: productsKind, missing, help });
    if (removal === null) return (await import("./delete-products.ts")).deleteProducts(app, products);
    const { removeFromFile } = await import("./remove-from-file.ts");
    await removeFromFile(app, removal, (await import("./removal-kinds.ts")).deletion);
  });
};
