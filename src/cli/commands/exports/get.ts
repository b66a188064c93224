import { operations } from "../../../contract/operations.ts";
import { getResource } from "../../resources/get-resource.ts";
import { rememberStatus } from "../../resources/remember-status.ts";
import { exportColumns } from "./columns.ts";

/** `cat exports get` */
export const getCommand = getResource<typeof operations.exports.get>({
  noun: "export",
  summary: "show the status of an export",
  description: "Show the status of an export, with a new URL of its file, which is valid for one hour.",
  operation: operations.exports.get,
  input: (id) => ({ export_id: id }),
  columns: exportColumns,
  onSeen: rememberStatus("export"),
  examples: [
    ["show an export", "cat exports get 01KE6W9ZJ8Q3V5X7B2D4F6H8JK"],
    ["print a new URL of its file", "cat exports get ID --json | jq -r .url"],
  ],
});
