import * as z from "zod";
import {
  assetRoles,
  importModes,
  orientations,
  rowStatuses,
  sexes,
  taskStatuses,
  taskSubtypes,
  taskTypes,
} from "../../../contract/value-sets.ts";
import type { App } from "../../app/app.ts";
import { UsageError } from "../../context/errors.ts";
import { findNamedProduct } from "../find-product.ts";
import type { Job, Jobs } from "./jobs.ts";
import type { Permission } from "./mcp.ts";
import type { CheckedPath, Root } from "./root.ts";
import { runRows } from "./run-rows.ts";
import { showImage } from "./show-image.ts";

/** What a tool does: a value, a picture, or a command to wait for. */
export type Outcome =
  | { readonly value: unknown }
  | { readonly picture: { readonly data: string; readonly mimeType: string } }
  | StartedJob;

/** A command whose question, run or end is waited for. */
export interface StartedJob {
  readonly job: Job;
  /** Besides a question and the end: the beginning of its run, or the agreement of a person. */
  readonly until: "run" | "agreement" | "end";
  readonly waitMs: number;
  /** Whether its output alone is the result of the call, and not a report on it. */
  readonly isResult?: true;
}

/** Clients give a call 60 seconds. */
export const longestCallMs = 45_000;
const startMs = 20_000;

const resultOf = (job: Job): StartedJob => ({ job, until: "end", waitMs: longestCallMs, isResult: true });
const startOf = (job: Job, until: StartedJob["until"] = "run"): StartedJob => ({
  job,
  until,
  waitMs: startMs,
});

/** What a call works with. */
export interface Session {
  /** With the signal of this call as its interrupt. */
  readonly app: App;
  readonly root: Root;
  readonly jobs: Jobs;
  readonly options: { readonly signal: AbortSignal };
  start(words: readonly string[], paths?: readonly CheckedPath[]): Job;
}

/** The hints of the protocol for clients. `isSafe`: the same call again changes nothing more. */
interface Nature {
  readonly needs: Permission | null;
  readonly destroys?: boolean;
  readonly isSafe?: boolean;
}

export interface Tool<Input extends z.ZodType = z.ZodType> {
  readonly name: string;
  readonly title: string;
  readonly about: string;
  readonly nature: Nature;
  readonly input: Input;
  run(args: z.output<Input>, session: Session): Promise<Outcome>;
}

const tool = <Input extends z.ZodType>(made: Tool<Input>): Tool => made as never;

const reads: Nature = { needs: null, isSafe: true };
const paging = {
  limit: z.int().min(1).max(100).default(25),
  cursor: z.string().optional().describe("next_cursor of the page before"),
};
const product = z.string().min(1).describe("ID or reference");
const products = z.array(product).min(1);
const file = z.string().min(1).describe("CSV, NDJSON or Excel file, relative to the root folder");
const folder = z.string().min(1).describe("relative to the root folder");
const run = z.string().min(1).describe("run ID");

const importInput = z.object({
  file,
  mode: z.enum(importModes).optional().describe("default: upsert"),
  map: z.array(z.string()).optional().describe("COLUMN=FIELD for columns with other names"),
  skip_invalid: z.boolean().optional().describe("import the valid rows of a file with problems"),
});

const generateInput = z.object({
  kind: z.enum(["tryon", "beautify"]),
  file: file.optional(),
  products: products.optional().describe("IDs or references, without a file; every combination is generated"),
  models: z.array(z.string()).optional().describe("IDs or names; for tryon"),
  subtypes: z.array(z.enum(taskSubtypes)).optional().describe("for beautify"),
  backgrounds: z.array(z.string()).optional(),
  angles: z.array(z.string()).optional(),
  save: folder.optional().describe("folder for the images, relative to the root folder"),
});

const photo = z.object({
  file: z.string().optional().describe("relative to the root folder"),
  image_id: z.string().optional(),
  orientation: z.enum(orientations).default("unlabeled"),
});

const changeInput = z.object({
  action: z.enum(["create", "update", "attach"]),
  product: product.optional().describe("ID or reference; for update and attach"),
  reference: z.string().optional(),
  name: z.string().optional(),
  description: z.string().nullable().optional(),
  sex: z.enum(sexes).nullable().optional(),
  photos: z.array(photo).max(20).optional().describe("for create and attach"),
});

/** The tools, in the order of the list. */
export const tools: readonly Tool[] = [
  tool({
    name: "products_find",
    title: "Find products",
    about: "List or search products by name or reference.",
    nature: reads,
    input: z.object({ q: z.string().optional(), ...paging }),
    run: async (query, session) => ({
      value: await (await session.app.client()).products.list(query, session.options),
    }),
  }),
  tool({
    name: "products_get",
    title: "Show a product",
    about: "Show one product with the IDs of its photos.",
    nature: reads,
    input: z.object({ product }),
    run: async (args, session) => ({ value: await findNamedProduct(session.app, args.product) }),
  }),
  tool({
    name: "products_change",
    title: "Create or change a product",
    about:
      "Create one product, change its fields (null empties one), or attach photos. For many use import_start.",
    nature: { needs: "writes" },
    input: changeInput,
    run: async (args, session) => {
      const { words, paths } = await changeWords(args, session);
      return resultOf(session.start(words, paths));
    },
  }),
  tool({
    name: "products_delete",
    title: "Delete products",
    about: "Delete products for good. A person is asked first.",
    nature: { needs: "deletes", destroys: true, isSafe: true },
    input: z.object({ products: products.max(20) }),
    run: async (args, session) => resultOf(session.start(["products", "delete", "--", ...args.products])),
  }),
  tool({
    name: "images_show",
    title: "Show an image",
    about: "See a photo or a generated image, scaled down.",
    nature: reads,
    input: z.object({
      image_id: z.string().optional(),
      task_id: z.string().optional().describe("a task whose image is meant"),
    }),
    run: async (args, session) => ({ picture: await showImage(args, session) }),
  }),
  tool({
    name: "tasks_find",
    title: "Find generations",
    about: "List generation tasks, newest first.",
    nature: reads,
    input: z.object({
      status: z.enum(taskStatuses).optional(),
      type: z.enum(taskTypes).optional(),
      product: product.optional(),
      ...paging,
    }),
    run: async ({ product, ...query }, session) => {
      const of =
        product === undefined ? {} : { product_id: (await findNamedProduct(session.app, product)).id };
      return { value: await (await session.app.client()).tasks.list({ ...query, ...of }, session.options) };
    },
  }),
  tool({
    name: "models_find",
    title: "Find models",
    about: "List the people that try-ons can show.",
    nature: reads,
    input: z.object({ is_public: z.boolean().optional().describe("false: your own"), ...paging }),
    run: async (query, session) => ({
      value: await (await session.app.client()).models.list(query, session.options),
    }),
  }),
  tool({
    name: "export_rows",
    title: "Read products with their images",
    about:
      "Read products with all their images (IDs, roles, sizes), newest first, or those changed since a time.",
    nature: reads,
    input: z.object({
      roles: z.array(z.enum(assetRoles)).optional(),
      since: z.string().optional().describe("RFC 3339 time"),
      ...paging,
    }),
    run: async ({ roles, ...query }, session) => {
      const role = roles === undefined ? {} : { role: roles.join(",") };
      return {
        value: await (await session.app.client()).exports.list({ ...query, ...role }, session.options),
      };
    },
  }),
  tool({
    name: "import_check",
    title: "Check an import file",
    about: "Check a file of products without sending anything. Problems: run_rows.",
    nature: reads,
    input: importInput,
    run: async (args, session) => startImport(args, session, ["--dry-run"]),
  }),
  tool({
    name: "import_start",
    title: "Import a file",
    about: "Import a file of products and photos. A stopped import is resumed by the same call.",
    nature: { needs: "writes", destroys: true, isSafe: true },
    input: importInput,
    run: async (args, session) => startImport(args, session, []),
  }),
  tool({
    name: "generate_start",
    title: "Generate images",
    about:
      "Generate try-ons or beautified images, which costs credits: a person is asked first. Images that exist are not generated again. " +
      "Backgrounds: white, studio, … or #rrggbb. Angles: full-front, … (tryon); front, … (beautify).",
    nature: { needs: "generations", isSafe: true },
    input: generateInput,
    run: startGenerations,
  }),
  tool({
    name: "sync_start",
    title: "Mirror all images",
    about: "Mirror the images of the catalogue into a folder; later calls download what changed.",
    nature: { needs: "writes", isSafe: true },
    input: z.object({ folder, roles: z.array(z.enum(assetRoles)).optional() }),
    run: async (args, session) => {
      const place = await session.root.place(args.folder);
      const roles = args.roles === undefined ? [] : [`--role=${args.roles.join(",")}`];
      return startOf(session.start(["export", "sync", place.path, ...roles], [place]));
    },
  }),
  tool({
    name: "run_status",
    title: "Show a run",
    about:
      "Show the progress or the result of a run of import_, generate_ or sync_start, also of an earlier session.",
    nature: reads,
    input: z.object({ run, wait_seconds: z.int().min(0).max(45).default(0) }),
    run: async (args, session) => {
      const job = session.jobs.find(args.run);
      if (job === undefined) return resultOf(session.start(["runs", "get", "--", args.run]));
      return { job, until: "end", waitMs: args.wait_seconds * 1000 };
    },
  }),
  tool({
    name: "run_rows",
    title: "List the rows of a run",
    about: "List the problems of a check, the rows of an import, or the tasks of a generation.",
    nature: reads,
    input: z.object({ run, status: z.enum([...rowStatuses, ...taskStatuses]).optional(), ...paging }),
    run: async (args, session) => ({ value: await runRows(args, session) }),
  }),
];

async function startImport(
  { file, mode, map = [], skip_invalid }: z.output<typeof importInput>,
  session: Session,
  more: readonly string[],
): Promise<Outcome> {
  const checked = await session.root.file(file);
  const flags = [
    ...(mode === undefined ? [] : [`--mode=${mode}`]),
    ...map.map((pair) => `--map=${pair}`),
    ...(skip_invalid === true ? ["--skip-invalid"] : []),
    ...more,
  ];
  return startOf(session.start(["import", checked.path, ...flags], [checked]));
}

async function startGenerations(
  { kind, file, save, ...selection }: z.output<typeof generateInput>,
  session: Session,
): Promise<Outcome> {
  const checked = file === undefined ? [] : [await session.root.file(file)];
  const folder = save === undefined ? [] : [await session.root.place(save)];
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
  return startOf(session.start(words, [...checked, ...folder]), "agreement");
}

/** The command for a change of one product. */
async function changeWords(args: z.output<typeof changeInput>, { root }: Session) {
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
    if (file === undefined) images.push(`${image_id}:${orientation}`);
    else {
      const checked = await root.file(file);
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
  const words = {
    create: ["create", ...fields, ...images.map((image) => `--image=${image}`)],
    update: ["update", ...fields, "--", product!],
    attach: ["attach", "--", product!, ...images],
  }[action];
  return { words: ["products", ...words], paths };
}
