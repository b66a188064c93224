import * as z from "zod";
import { importModes, orientations, sexes, taskSubtypes } from "../../../contract/value-sets.ts";
import { UsageError } from "../../context/errors.ts";
import { resourceId } from "../../flags/values.ts";
import { findNamedProduct } from "../find-product.ts";
import type { CheckedPath } from "./root.ts";
import { awaitedResult, awaitedStart, type Outcome, type Session } from "./session.ts";

// The tools that run a command: what they take, and the words of the command.

export const productText = z.string().min(1).describe("ID or reference");
export const products = z.array(productText).min(1);
const file = z.string().min(1).describe("CSV, NDJSON or Excel file, relative to the root folder");
export const folder = z.string().min(1).describe("relative to the root folder");

export const importInput = z.strictObject({
  file,
  mode: z.enum(importModes).optional().describe("default: upsert"),
  map: z.array(z.string()).optional().describe("COLUMN=FIELD for columns with other names"),
  skip_invalid: z.boolean().optional().describe("import the valid rows of a file with problems"),
});

export const generateInput = z.strictObject({
  kind: z.enum(["tryon", "beautify"]),
  file: file.optional(),
  products: products.optional().describe("IDs or references, without a file; every combination is generated"),
  models: z.array(z.string()).optional().describe("IDs or names; for tryon"),
  subtypes: z.array(z.enum(taskSubtypes)).optional().describe("for beautify"),
  backgrounds: z.array(z.string()).optional().describe("e.g. white, studio, #aabbcc"),
  angles: z.array(z.string()).optional().describe("e.g. full-front; front for beautify"),
  save: folder.optional().describe("folder for the images, relative to the root folder"),
});

const photo = z.strictObject({
  file: z.string().optional().describe("relative to the root folder"),
  image_id: z.string().optional(),
  orientation: z.enum(orientations).default("unlabeled"),
});

export const changeInput = z.strictObject({
  action: z.enum(["create", "update", "attach"]),
  product: productText.optional().describe("ID or reference; for update and attach"),
  reference: z.string().optional(),
  name: z.string().optional(),
  description: z.string().nullable().optional(),
  sex: z.enum(sexes).nullable().optional(),
  photos: z.array(photo).max(20).optional().describe("for create and attach"),
});

export async function startImport(
  { file, mode, map = [], skip_invalid }: z.output<typeof importInput>,
  session: Session,
  more: readonly string[],
): Promise<Outcome> {
  const checked = await session.root.input(file);
  const flags = [
    ...(mode === undefined ? [] : [`--mode=${mode}`]),
    ...map.map((pair) => `--map=${pair}`),
    ...(skip_invalid === true ? ["--skip-invalid"] : []),
    ...more,
  ];
  return awaitedStart(session.start(["import", checked.path, ...flags], [checked]));
}

export async function startGenerations(
  { kind, file, save, ...selection }: z.output<typeof generateInput>,
  session: Session,
): Promise<Outcome> {
  const checked = file === undefined ? [] : [await session.root.input(file)];
  const folder = save === undefined ? [] : [await session.root.place(save, true)];
  const flags = {
    products: "product",
    models: "model",
    subtypes: "subtype",
    backgrounds: "background",
    angles: "angle",
  };
  const words = [
    kind,
    ...checked.map(({ path }) => path),
    ...Object.entries(flags).flatMap(([name, flag]) =>
      (selection[name as keyof typeof selection] ?? []).map((value) => `--${flag}=${value}`),
    ),
    ...(file === undefined ? ["--matrix"] : []),
    ...folder.map(({ path }) => `--save=${path}`),
  ];
  return awaitedStart(session.start(words, [...checked, ...folder]), "agreement");
}

/** Starts the change of one product. */
export async function changeProduct(args: z.output<typeof changeInput>, session: Session): Promise<Outcome> {
  const { action, product, photos = [] } = args;
  if ((action === "create") === (product !== undefined))
    throw new UsageError(action === "create" ? "create takes no product" : `${action} needs a product`, {
      param: "product",
      hint: "A new product has a reference; an existing one is named by its ID or reference.",
    });
  const paths: CheckedPath[] = [];
  const images: string[] = [];
  for (const { file, image_id, orientation } of photos) {
    if ((file === undefined) === (image_id === undefined))
      throw new UsageError("a photo has either a file or an image_id", {
        param: "photos",
        hint: "Add one of them.",
      });
    // Anything but an ID would be taken for a path.
    if (file === undefined) images.push(`${resourceId(image_id!, "image")}:${orientation}`);
    else {
      const checked = await session.root.file(file);
      paths.push(checked);
      // With a folder, no name of a file is taken for an ID or a flag.
      images.push(`./${checked.path}:${orientation}`);
    }
  }
  const fields = (["reference", "name", "description", "sex"] as const).flatMap((field) => {
    const value = args[field];
    if (value === undefined) return [];
    return value === null ? [`--clear=${field}`] : [`--${field}=${value}`];
  });
  const named = product === undefined ? "" : await asArgument(session)(product);
  const words = {
    create: [...fields, ...images.map((image) => `--image=${image}`)],
    update: [named, ...fields],
    attach: [named, ...images],
  }[action];
  return awaitedResult(session.start(["products", action, ...words], paths));
}

/** A product as an argument: a reference that starts with a hyphen would be a flag. */
export const asArgument =
  ({ app }: Session) =>
  async (product: string): Promise<string> =>
    product.startsWith("-") ? (await findNamedProduct(app, product)).id : product;
