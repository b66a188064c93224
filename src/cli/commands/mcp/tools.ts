import * as z from "zod";
import { assetRoles, rowStatuses, taskStatuses, taskTypes } from "../../../contract/value-sets.ts";
import { findNamedProduct } from "../find-product.ts";
import {
  asArgument,
  changeInput,
  changeProduct,
  folder,
  generateInput,
  importInput,
  products,
  productText,
  startGenerations,
  startImport,
} from "./command-tools.ts";
import type { Permission } from "./permissions.ts";
import { runRows } from "./run-rows.ts";
import { awaitedResult, awaitedStart, type Outcome, type Session } from "./session.ts";
import { showImage } from "./show-image.ts";

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
const run = z.string().regex(/^\w+$/).describe("run ID");

/** The tools, in the order of the list. */
export const tools: readonly Tool[] = [
  tool({
    name: "products_find",
    title: "Find products",
    about: "List or search products by name or reference.",
    nature: reads,
    input: z.strictObject({ q: z.string().optional(), ...paging }),
    run: async (query, session) => ({
      value: await (await session.app.client()).products.list(query, session.options),
    }),
  }),
  tool({
    name: "products_get",
    title: "Show a product",
    about: "Show one product with the IDs of its photos.",
    nature: reads,
    input: z.strictObject({ product: productText }),
    run: async (args, session) => ({ value: await findNamedProduct(session.app, args.product) }),
  }),
  tool({
    name: "products_change",
    title: "Create or change a product",
    about:
      "Create one product, change its fields (null empties one), or attach photos. For many use import_start.",
    nature: { needs: "writes", destroys: true },
    input: changeInput,
    run: changeProduct,
  }),
  tool({
    name: "products_delete",
    title: "Delete products",
    about: "Delete products for good. A person is asked first.",
    nature: { needs: "deletes", destroys: true, isSafe: true },
    input: z.strictObject({ products: products.max(20) }),
    run: async (args, session) =>
      awaitedResult(
        session.start(["products", "delete", ...(await Promise.all(args.products.map(asArgument(session))))]),
      ),
  }),
  tool({
    name: "images_show",
    title: "Show an image",
    about: "See a photo or a generated image, scaled down.",
    nature: reads,
    input: z.strictObject({
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
    input: z.strictObject({
      status: z.enum(taskStatuses).optional(),
      type: z.enum(taskTypes).optional(),
      product: productText.optional(),
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
    input: z.strictObject({ is_public: z.boolean().optional().describe("false: your own"), ...paging }),
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
    input: z.strictObject({
      roles: z.array(z.enum(assetRoles)).optional(),
      since: z.string().optional().describe("RFC 3339 time"),
      ...paging,
      // A product has up to some hundred images.
      limit: z.int().min(1).max(25).default(10),
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
    about: "Import a file of products and photos. A stopped import is resumed with the same file.",
    nature: { needs: "writes", destroys: true, isSafe: true },
    input: importInput,
    run: async (args, session) => startImport(args, session, []),
  }),
  tool({
    name: "generate_start",
    title: "Generate images",
    about:
      "Generate try-ons or beautified images, which costs credits: a person is asked first. Images that exist are not generated again, unless rejected.",
    nature: { needs: "generations", isSafe: true },
    input: generateInput,
    run: startGenerations,
  }),
  tool({
    name: "sync_start",
    title: "Mirror all images",
    about: "Mirror the images of the catalogue into a folder; later runs download what changed.",
    nature: { needs: "writes", isSafe: true },
    input: z.strictObject({ folder, roles: z.array(z.enum(assetRoles)).optional() }),
    run: async (args, session) => {
      const place = await session.root.place(args.folder);
      const roles = args.roles === undefined ? [] : [`--role=${args.roles.join(",")}`];
      return awaitedStart(session.start(["export", "sync", place.path, ...roles], [place]));
    },
  }),
  tool({
    name: "run_status",
    title: "Show a run",
    about:
      "Show the progress or the result of a run of import_, generate_ or sync_start, also of an earlier session.",
    nature: reads,
    input: z.strictObject({ run, wait_seconds: z.int().min(0).max(45).default(0) }),
    run: async (args, session) => {
      const job = session.jobs.find(args.run);
      if (job === undefined) return awaitedResult(session.start(["runs", "get", args.run]));
      return { job, until: "end", waitMs: args.wait_seconds * 1000 };
    },
  }),
  tool({
    name: "run_rows",
    title: "List the rows of a run",
    about: "List the problems of a check, the rows of an import, or the tasks of a generation.",
    nature: reads,
    input: z.strictObject({ run, status: z.enum([...rowStatuses, ...taskStatuses]).optional(), ...paging }),
    run: async (args, session) => ({ value: await runRows(args, session) }),
  }),
];
