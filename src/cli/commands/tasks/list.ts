import { Option } from "commander";
import { operations } from "../../../contract/operations.ts";
import { taskStatuses, taskSubtypes, taskTypes } from "../../../contract/value-sets.ts";
import { listResource } from "../../resources/list-resource.ts";
import { productOf } from "../products/product-of.ts";
import { taskColumns } from "./columns.ts";

/** `cat tasks list` */
export const listCommand = listResource({
  summary: "list tasks, newest first",
  description: "List the tasks that generate images, newest first.",
  operation: operations.tasks.list,
  columns: taskColumns,
  lookUp: async (app, { product }: { product?: string }) =>
    product === undefined ? {} : { product_id: (await productOf(app, product)).id },
  filters: [
    new Option("--status <STATUS>", "only tasks with this status").choices(taskStatuses),
    new Option("--type <TYPE>", "only tasks of this type").choices(taskTypes),
    new Option("--subtype <SUBTYPE>", "only beautifier tasks of this subtype").choices(taskSubtypes),
    new Option("--product <ID|REF>", "only tasks of this product"),
  ],
  none: () => "No tasks found.",
  examples: [["print the IDs of failed tasks", "cat tasks list --status failed --all --json | jq -r .id"]],
});
