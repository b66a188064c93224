import { listSentJobs } from "../../resources/list-sent-jobs.ts";
import { listedImport, listedImportFields, sentImportColumns } from "./columns.ts";

/** `cat imports list`: the imports that this machine has sent. */
export const listCommand = listSentJobs({
  kind: "import",
  verb: "sent",
  preposition: "to",
  listed: listedImport,
  fields: listedImportFields,
  columns: sentImportColumns,
  examples: [
    ["list the last 25 imports", "cat imports list"],
    [
      "show the current status of the last import",
      "cat imports get $(cat imports list --limit 1 --json | jq -r .id)",
    ],
  ],
});
