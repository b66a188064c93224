import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { importModes, orientations, sexes, taskSubtypes } from "../../../contract/value-sets.ts";
import { temporaryFolder } from "../../../flows/files/disk.ts";
import { series } from "../../../flows/words.ts";
import { UsageError } from "../../context/errors.ts";
import { resourceId } from "../../flags/values.ts";
import { findNamedProduct } from "../find-product.ts";
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
  skip_invalid: z.boolean().optional().describe("generate the valid rows of a file with problems"),
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
  photos: z.array(photo).min(1).max(20).optional().describe("for create and attach"),
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
  { kind, file, save, skip_invalid, ...selection }: z.output<typeof generateInput>,
  session: Session,
): Promise<Outcome> {
  const needed = ["products", kind === "tryon" ? "models" : "subtypes", "backgrounds", "angles"] as const;
  const missing = needed.filter((name) => selection[name] === undefined);
  if (file !== undefined && Object.values(selection).some((values) => values !== undefined))
    throw new UsageError("a file cannot be combined with products, models, subtypes, backgrounds or angles", {
      param: "file",
      hint: "Put the values into columns of the file, or remove the file.",
    });
  if (file === undefined && missing.length > 0)
    throw new UsageError(`${kind} needs a file, or ${series(missing, "and")}`, {
      param: missing[0]!,
      hint: "Add the missing arguments, or use a file.",
    });
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
    // Images of other computers are not paid again.
    "--missing",
    ...checked.map(({ path }) => path),
    ...Object.entries(flags).flatMap(([name, flag]) =>
      (selection[name as keyof typeof selection] ?? []).map((value) => `--${flag}=${value}`),
    ),
    ...(file === undefined ? ["--matrix"] : []),
    ...(skip_invalid === true ? ["--skip-invalid"] : []),
    ...folder.map(({ path }) => `--save=${path}`),
  ];
  return awaitedStart(session.start(words, [...checked, ...folder]), "agreement");
}

/** The arguments that each action needs, and those that it takes too. */
const changeArguments = {
  create: { needs: ["reference", "photos"], takes: ["name", "description", "sex"] },
  update: { needs: ["product"], takes: ["reference", "name", "description", "sex"] },
  attach: { needs: ["product", "photos"], takes: [] },
} as const;

/** Throws UsageError for arguments that the command would lack or not use. */
function checkChange({ action, ...args }: z.output<typeof changeInput>): void {
  const { needs, takes } = changeArguments[action];
  const known: readonly string[] = [...needs, ...takes];
  const wrong = (what: string, why: string, param = what) =>
    new UsageError(`${action} ${why} ${what}`, {
      param,
      hint: `${action} needs ${needs.join(" and ")}${takes.length > 0 ? `, and takes ${series(takes, "and")}` : ""}.`,
    });
  for (const [name, value] of Object.entries(args)) {
    if (value !== undefined && !known.includes(name)) throw wrong(name, "does not take");
    if (value === null && action === "create") throw wrong(name, "cannot empty");
  }
  for (const name of needs) if (args[name] === undefined) throw wrong(name, "needs");
  if (action === "update" && takes.every((name) => args[name as "name"] === undefined))
    throw wrong("a field to change", "needs", "action");
}

/** Starts the change of one product. */
export async function changeProduct(args: z.output<typeof changeInput>, session: Session): Promise<Outcome> {
  checkChange(args);
  const { action, product, photos = [] } = args;
  const copies = photos.some(({ file }) => file !== undefined) ? temporaryFolder("create") : null;
  const release = async () => {
    if (copies !== null) await rm(copies, { recursive: true, force: true });
  };
  try {
    const images: string[] = [];
    for (const photo of photos)
      images.push(`${await namedPhoto(photo, images.length, copies, session)}:${photo.orientation}`);
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
    return awaitedResult(session.start(["products", action, ...words], [], release));
  } catch (error) {
    await release();
    throw error;
  }
}

/** The ID of an image, or the path of a copy of a file. Throws UsageError. */
async function namedPhoto(
  { file, image_id }: z.output<typeof photo>,
  index: number,
  copies: string | null,
  { root }: Session,
): Promise<string> {
  if ((file === undefined) === (image_id === undefined))
    throw new UsageError("a photo has either a file or an image_id", {
      param: "photos",
      hint: "Add one of them.",
    });
  // Anything but an ID would be taken for a path.
  if (file === undefined) return resourceId(image_id!, "image");
  const folder = join(copies!, String(index));
  await mkdir(folder);
  return root.copy(file, folder);
}

/** A product as an argument: a reference that starts with a hyphen would be a flag. */
export const asArgument =
  ({ app }: Session) =>
  async (product: string): Promise<string> =>
    product.startsWith("-") ? (await findNamedProduct(app, product)).id : product;
