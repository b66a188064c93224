import { listSentJobs } from "../../resources/list-sent-jobs.ts";
import { listedExport, listedExportFields, sentExportColumns } from "./columns.ts";

/** `cat exports list`: the frozen exports that this machine has started. */
export const listCommand = listSentJobs({
  kind: "export",
  verb: "started",
  preposition: "on",
  listed: listedExport,
  fields: listedExportFields,
  columns: sentExportColumns,
  examples: [
    ["list the last 25 exports", "cat exports list"],
    [
      "download the last export again",
      "cat exports download $(cat exports list --limit 1 --json | jq -r .id)",
    ],
  ],
});
