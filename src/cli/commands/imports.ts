import { type Command, Option } from "commander";
import { operations } from "../../contract/client-operations.ts";
import type { Operations } from "../../contract/operations.ts";
import type { Import, ImportRowResult } from "../../contract/resources/imports.ts";
import { rowStatuses } from "../../contract/value-sets.ts";
import { isEnded } from "../../flows/import/follow.ts";
import { failureOfRow } from "../../flows/import/row-result.ts";
import type { ProgressEvent } from "../../flows/progress-event.ts";
import { counted, countList, grouped, series } from "../../flows/words.ts";
import { StateError } from "../../state/state-error.ts";
import type { App } from "../app/app.ts";
import { PartialError } from "../context/errors.ts";
import { group } from "../flags/command.ts";
import { resourceId } from "../flags/values.ts";
import { type Column, whole } from "../output/table.ts";
import { fieldColumns, replyFields } from "../resources/forms.ts";
import { getResource } from "../resources/get-resource.ts";
import { listResource } from "../resources/list-resource.ts";
import { listSentJobs, rememberStatus } from "../resources/sent-jobs.ts";
import { watchJob } from "../resources/watch-job.ts";
import { undoCommand } from "./imports-undo.ts";

/** `cat imports`: the imports sent from this machine, and the results of their rows. */
export const importsCommand = (app: App): Command =>
  group(
    "imports",
    "View the imports that you sent, their progress and the results of their rows. " +
      "To import a file: cat import FILE.",
    [listCommand(app), getCommand(app), watchCommand(app), rowsCommand(app), undoCommand(app)],
  );

const listCommand = (app: App): Command =>
  listSentJobs(app, {
    kind: "import",
    verb: "sent",
    preposition: "to",
    rows: "rows",
    variant: "mode",
    hasLedger: true,
    examples: [
      ["list the last 25 imports", "cat imports list"],
      [
        "show the current status of the last import",
        "cat imports get $(cat imports list --limit 1 --json | jq -r .id)",
      ],
    ],
  });

/** Shared by `get` and `watch`. */
const importJob = {
  noun: "import",
  operation: operations.imports.get,
  columns: fieldColumns<Import>(replyFields(operations.imports.get), ["id", "status"]),
  onSeen: rememberStatus("import"),
};

const getCommand = (app: App): Command =>
  getResource<Operations["imports"]["get"]>(app, {
    ...importJob,
    summary: "show the progress of an import",
    about: "Show the status of an import, and how many of its rows succeeded, are partial, or failed.",
    examples: [
      ["show an import", "cat imports get 01KE6W9ZJ8Q3V5X7B2D4F6H8JK"],
      ["print the number of failed rows", "cat imports get ID --json | jq .counts.failed"],
    ],
  });

const watchCommand = (app: App): Command =>
  watchJob<Operations["imports"]["get"]>(app, {
    ...importJob,
    about: "Exits with 0 if all rows succeeded, and with 8 if some did not.",
    isEnded,
    toProgress,
    unit: "row",
    reportEnd,
    examples: [
      ["find the ID of the last import", "cat imports list --limit 1"],
      ["wait at most 10 minutes for the import to finish", "cat imports watch ID --timeout 10m"],
    ],
  });

function toProgress({ status, counts }: Import): ProgressEvent {
  const { total, succeeded, partial, failed } = counts;
  const note = [
    failed > 0 ? `${grouped(failed)} failed` : "",
    partial > 0 ? `${grouped(partial)} partial` : "",
  ].filter((part) => part !== "");
  return {
    // The last response ends the bar of this step.
    step: status === "validating" ? "validating rows" : "importing rows",
    done: succeeded + partial + failed,
    total,
    ...(note.length > 0 ? { note: note.join(", ") } : {}),
  };
}

/** Prints the number of failed rows with the command that lists them, and ends with exit status 8. */
async function reportEnd(app: App, job: Import, next: (...words: string[]) => string): Promise<void> {
  const { id, status } = job;
  const { failed, partial, total } = job.counts;
  if (status === "completed" && failed + partial === 0) return;
  const rows = (which: string) => next("rows", id, "--status", which);
  if (status === "failed") await app.io.note("The service could not run this import; no row was processed.");
  if (failed > 0) await app.io.note(`${counted(failed, "row")} failed: ${rows("failed")}`);
  if (partial > 0) {
    await app.io.note(
      `${counted(partial, "row")} imported without some of ${partial === 1 ? "its" : "their"} photos: ${rows("partial")}`,
    );
  }
  if (status === "failed") throw new PartialError(`the service could not run ${id}`);
  const counts = countList({ failed, partial });
  const kinds = [...(failed > 0 ? ["failed"] : []), ...(partial > 0 ? ["partial"] : [])];
  const [bad, all] = [failed + partial, counted(total ?? failed + partial, "row")];
  throw new PartialError(
    `${grouped(bad)} of ${all} of ${id} ${bad === 1 ? "was" : "were"} not imported in full (${counts})`,
    {
      hint: `To list them: ${series(kinds.map(rows), "and")}`,
    },
  );
}

/** The row results of the service; exits with 5 if the import does not exist. */
const rowsCommand = (app: App): Command =>
  listResource(app, {
    name: "rows",
    summary: "list the results of the rows of an import",
    about:
      "List the result of each row of an import, in the order in which the rows were sent.\n\n" +
      "The line is that of your file (file_line), if the import was sent from this machine. " +
      "Elsewhere it is the position of the row in the import, which may contain only part of your file.",
    operation: operations.imports.rows,
    of: { about: "ID of the import", input: (text) => ({ import_id: resourceId(text, "import") }) },
    columns: rowColumns,
    added: { fields: ["file_line"], to: (id) => withFileLines(app, id) },
    filters: [new Option("--status <STATUS>", "list only rows with this status").choices(rowStatuses)],
    none: ({ status }: { status?: string }) => (status === undefined ? "No rows." : `No ${status} rows.`),
    examples: [
      ["list the failed rows, with the error codes", "cat imports rows ID --status failed"],
      ["save all rows as a spreadsheet", "cat imports rows ID --all --format csv > rows.csv"],
    ],
  });

/** A row result with the line of its row in the file, where it is known. */
type FileRowResult = ImportRowResult & { readonly file_line?: number | undefined };

/** Adds the lines of the file, which this machine keeps for the imports that it sent. */
async function withFileLines(app: App, id: string): Promise<(row: ImportRowResult) => FileRowResult> {
  const lines = app.globals.mock ? null : await keptLines(app, id);
  return (row) => (lines === null ? row : { ...row, file_line: lines[row.line - 1] });
}

/** Results are printed without the lines of the file if the state cannot be read. */
async function keptLines(app: App, id: string): Promise<Uint32Array | null> {
  try {
    return (await app.state()).sentJobs.lines(id);
  } catch (error) {
    if (error instanceof StateError) return null;
    throw error;
  }
}

/** The columns of row results in tables and CSV; the CSV columns are those of a results file. */
const rowColumns: readonly Column<FileRowResult>[] = [
  { name: "line", value: (row) => row.file_line ?? row.line, only: "table" },
  { name: "file_line", value: (row) => row.file_line, only: "csv" },
  { name: "line", value: (row) => row.line, only: "csv" },
  { name: "reference", value: (row) => row.reference },
  { name: "status", value: (row) => row.status, least: whole },
  { name: "action", value: (row) => row.action, drop: "first", least: whole },
  { name: "product_id", value: (row) => row.product_id },
  { name: "images", value: attachedOfAll, only: "table" },
  { name: "error", value: toReason, only: "table", least: 15 },
  { name: "error_code", value: (row) => row.error?.code, only: "csv" },
  { name: "error_message", value: (row) => row.error?.message, only: "csv" },
  { name: "images", value: (row) => JSON.stringify(row.images), only: "csv" },
];

/** The images of a row: the client passes rows on unchecked. */
const listImages = ({ images }: ImportRowResult): ImportRowResult["images"] =>
  Array.isArray(images) ? images.filter((image) => typeof image === "object" && image !== null) : [];

function toReason(row: ImportRowResult): string | undefined {
  return failureOfRow({ ...row, images: listImages(row) })?.message;
}

/** The attached images of all images, e.g. `2/3`; empty while the row is pending. */
function attachedOfAll(row: ImportRowResult): string {
  if (row.status === "pending" || !Array.isArray(row.images)) return "";
  const images = listImages(row);
  return `${images.filter((image) => image.status === "attached").length}/${images.length}`;
}
