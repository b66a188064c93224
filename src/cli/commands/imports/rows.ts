import { Option } from "commander";
import { operations } from "../../../contract/operations.ts";
import { rowStatuses } from "../../../contract/value-sets.ts";
import { resourceId } from "../../flags/resource-id.ts";
import { listResource } from "../../resources/list-resource.ts";
import { rowColumns } from "./columns.ts";

/** `cat imports rows`: row results as the service has them; an import that is not found ends in exit 5. */
export const rowsCommand = listResource({
  name: "rows",
  summary: "list what became of the rows of an import",
  description:
    "List what became of each row of an import, in the order in which they were sent. " +
    "Lines count from 1 in what was sent in this one import, which may be a part of your file; " +
    "with lines of the file: cat import FILE --results FILE.",
  operation: operations.imports.rows,
  of: { about: "the import's id", input: (text) => ({ import_id: resourceId(text, "import") }) },
  columns: rowColumns,
  filters: [new Option("--status <STATUS>", "only rows with this status").choices(rowStatuses)],
  none: ({ status }: { status?: string }) =>
    status === undefined ? "There are no rows." : `No row is ${status}.`,
  examples: [
    ["the rows that failed, and why", "cat imports rows ID --status failed"],
    ["every row as a spreadsheet", "cat imports rows ID --all --format csv > rows.csv"],
  ],
});
