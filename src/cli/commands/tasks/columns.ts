import { Task } from "../../../contract/resources/task.ts";
import { fieldTree } from "../../../contract/response-values.ts";
import type { ResourceForm } from "../../flags/print-flags.ts";
import { namedFields } from "../../resources/named-form.ts";
import { fieldColumns } from "../../resources/resource-form.ts";
import type { FollowedTask } from "./follow-tasks.ts";

/** The columns of tasks in tables and CSV files. */
export const taskColumns = fieldColumns(Task, ["id", "type", "status", "product_id", "created_at"]);

/** The form of tasks that were followed; a table shows the saved files if there are any. */
export const followedForm = (isSaved: boolean): ResourceForm<FollowedTask> => ({
  columns: [
    ...fieldColumns(Task, ["id", "type", "status", "product_id"]).filter(
      ({ name }) => name !== "failure_reason",
    ),
    { name: "output_file", value: (row) => row.output_file ?? null, ...(!isSaved && { only: "csv" }) },
    { name: "failure_reason", value: (row) => row.failure_reason?.code ?? null },
  ],
  fields: {
    fields: { ...fieldTree(Task).fields, ...namedFields(["output_file"]).fields },
    entries: null,
  },
});
