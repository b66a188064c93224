import { Option } from "commander";
import { operations } from "../../../contract/operations.ts";
import { rowStatuses } from "../../../contract/value-sets.ts";
import { resourceId } from "../../flags/resource-id.ts";
import { listResource } from "../../resources/list-resource.ts";
import { rowColumns } from "./columns.ts";

/** `cat imports rows`: the row results of the service; exits with 5 if the import does not exist. */
export const rowsCommand = listResource({
  name: "rows",
  summary: "list the results of the rows of an import",
  description:
    "List the result of each row of an import, in the order in which the rows were sent.\n\n" +
    "The line is the position of the row in this import, which may contain only part of your file. " +
    "To get the lines of your file, use: cat import FILE --results FILE",
  operation: operations.imports.rows,
  of: { about: "ID of the import", input: (text) => ({ import_id: resourceId(text, "import") }) },
  columns: rowColumns,
  filters: [new Option("--status <STATUS>", "list only rows with this status").choices(rowStatuses)],
  none: ({ status }: { status?: string }) => (status === undefined ? "No rows." : `No ${status} rows.`),
  examples: [
    ["list the failed rows, with the error codes", "cat imports rows ID --status failed"],
    ["save all rows as a spreadsheet", "cat imports rows ID --all --format csv > rows.csv"],
  ],
});
