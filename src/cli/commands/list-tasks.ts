import { type Command, Option } from "commander";
import { operations } from "../../contract/client-operations.ts";
import type { Task } from "../../contract/resources/tasks.ts";
import { taskStatuses, taskSubtypes, taskTypes } from "../../contract/value-sets.ts";
import { startTimeLimit } from "../../flows/run/stage.ts";
import type { App } from "../app/app.ts";
import { defaultConcurrency } from "../app/run-flow.ts";
import { type Column, whole } from "../output/table.ts";
import { entryFields, fieldColumns } from "../resources/forms.ts";
import { listResource } from "../resources/list-resource.ts";
import { findNamedProduct } from "./find-product.ts";

interface TaskFilters {
  readonly product?: string;
  readonly decision?: keyof typeof decisions;
}

/** `cat tasks list`. Tables have the references of the products, and a time that is read at a glance. */
export const listTasksCommand = (app: App): Command => {
  const references = new Map<string, string>();
  return listResource(app, {
    summary: "list tasks, newest first",
    about: "List the tasks that generate images, newest first.",
    operation: operations.tasks.list,
    columns: columnsWith(references, app),
    beforeTable: (tasks) => readReferences(app, tasks, references),
    lookUp: async ({ product }: TaskFilters) =>
      product === undefined ? {} : { product_id: (await findNamedProduct(app, product)).id },
    filters: [
      new Option("--status <STATUS>", "only tasks with this status").choices(taskStatuses),
      new Option("--type <TYPE>", "only tasks of this type").choices(taskTypes),
      new Option("--subtype <SUBTYPE>", "only beautifier tasks of this subtype").choices(taskSubtypes),
      new Option("--product <ID|REF>", "only tasks of this product"),
      new Option("--decision <DECISION>", "only images with this decision of a review").choices(
        Object.keys(decisions),
      ),
    ],
    keeps: ({ decision }: TaskFilters) => keptBy(app, decision),
    none: ({ decision }) =>
      decision === undefined || decision === "not-reviewed"
        ? "No tasks found."
        : "No tasks found. To record decisions: cat tasks review DECISIONS",
    examples: [
      ["print the IDs of failed tasks", "cat tasks list --status failed --all --json | jq -r .id"],
      ["list the images that a review rejected", "cat tasks list --decision rejected"],
    ],
  });
};

/** The decisions that a review can record. */
const decisions = { approved: "approve", rejected: "reject", "not-reviewed": null } as const;

/** Keeps the images with a decision of this profile; null for a list of all tasks. */
async function keptBy(app: App, wanted: keyof typeof decisions | undefined) {
  if (wanted === undefined) return null;
  const { baseUrl } = await app.connection();
  const known = (await app.state()).decisions;
  return ({ id, status }: Task): boolean =>
    status === "succeeded" && (known.of(baseUrl, id)?.decision ?? null) === decisions[wanted];
}

/** The columns of the list. `references` has those of the products by ID, once a table is drawn. */
const columnsWith = (references: ReadonlyMap<string, string>, { context }: App): Column<Task>[] => [
  ...fieldColumns<Task>(entryFields(operations.tasks.list), [
    "id",
    "type",
    "status",
    "product_id",
    "created_at",
  ]).map((column) => ({
    ...column,
    only: "csv" as const,
  })),
  { name: "reference", value: (task) => references.get(task.product_id), only: "table" },
  {
    name: "created",
    value: ({ created_at }) => agoText(created_at, context.clock.now()),
    only: "table",
    least: whole,
  },
  { name: "status", value: ({ status }) => status, only: "table" },
  { name: "type", value: ({ type }) => type, only: "table", drop: "first" },
  { name: "product_id", value: (task) => task.product_id, only: "table", drop: "first" },
  { name: "id", value: ({ id }) => id, only: "table" },
];

/** How long ago a time was: `2 min ago`; unchanged if it is none. */
export function agoText(time: string, now: number): string {
  const minutes = Math.floor((now - Date.parse(time)) / 60_000);
  if (Number.isNaN(minutes)) return time;
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ago` : `${Math.floor(hours / 24)} days ago`;
}

/** References may not delay a table for longer, in milliseconds. */
const longestMs = 5_000;
/** So many products are worth a page of products: newest tasks are mostly of newest products. */
const productsPerPage = 25;

/** Adds references of products, if they can be read. Throws only for an interrupt. */
export async function readReferences(
  app: App,
  tasks: readonly Task[],
  references: Map<string, string>,
): Promise<void> {
  const ids = new Set(tasks.map((task) => task.product_id));
  const { clock, interrupt } = app.context;
  const { signal, release } = startTimeLimit("list", longestMs, { clock, signal: interrupt });
  try {
    const { productsBy } = await import("../../flows/catalogue/lookups.ts");
    const service = { client: await app.client(), signal, concurrency: defaultConcurrency };
    const mostPages = Math.ceil(ids.size / productsPerPage);
    const { byId } = await productsBy({ ids, references: [] }, service, { mostPages });
    for (const [id, { reference }] of byId) if (reference !== null) references.set(id, reference);
  } catch {
    // A table without references is better than none.
  } finally {
    release();
  }
  interrupt.throwIfAborted();
}
