import { operations } from "../../../contract/operations.ts";
import { getResource } from "../../resources/get-resource.ts";
import { taskColumns } from "./columns.ts";

/** `cat tasks get` */
export const getCommand = getResource<typeof operations.tasks.get>({
  noun: "task",
  summary: "show a task",
  description: "Show one task. The signed URL of its image expires after one hour.",
  operation: operations.tasks.get,
  input: (id) => ({ task_id: id }),
  columns: taskColumns,
  examples: [["print the URL of the image", "cat tasks get ID --json | jq -r .output_image.url"]],
});
