import { operations } from "../../../contract/operations.ts";
import { getResource } from "../../resources/get-resource.ts";
import { rememberStatus } from "../../resources/remember-status.ts";
import { importColumns } from "./columns.ts";

/** `cat imports get` */
export const getCommand = getResource<typeof operations.imports.get>({
  noun: "import",
  summary: "show the progress of an import",
  description: "Show the status of an import, and how many of its rows succeeded, are partial, or failed.",
  operation: operations.imports.get,
  input: (id) => ({ import_id: id }),
  columns: importColumns,
  onSeen: rememberStatus("import"),
  examples: [
    ["show an import", "cat imports get 01KE6W9ZJ8Q3V5X7B2D4F6H8JK"],
    ["print the number of failed rows", "cat imports get ID --json | jq .counts.failed"],
  ],
});
