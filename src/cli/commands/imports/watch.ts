import { operations } from "../../../contract/operations.ts";
import type { Import } from "../../../contract/resources/import.ts";
import { isEnded } from "../../../flows/import/results/follow-imports.ts";
import type { ProgressEvent } from "../../../flows/progress-event.ts";
import { counted, grouped } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { ExitCode } from "../../context/exit.ts";
import { rememberStatus } from "../../resources/remember-status.ts";
import { watchJob } from "../../resources/watch-job.ts";
import { importColumns } from "./columns.ts";

/** `cat imports watch` */
export const watchCommand = watchJob<typeof operations.imports.get>({
  noun: "import",
  description: "Exits with 0 if all rows succeeded, and with 8 if some did not.",
  operation: operations.imports.get,
  columns: importColumns,
  input: (id) => ({ import_id: id }),
  isEnded,
  progressOf,
  unit: "row",
  onSeen: rememberStatus("import"),
  reportEnd,
  examples: [
    ["find the ID of the last import", "cat imports list --limit 1"],
    ["wait at most 10 minutes for the import to finish", "cat imports watch ID --timeout 10m"],
  ],
});

/** Prints the number of failed rows with the command that lists them, and sets exit status 8. */
async function reportEnd(app: App, job: Import, next: (...words: string[]) => string): Promise<void> {
  const { id, status } = job;
  const { failed, partial } = job.counts;
  if (status === "completed" && failed + partial === 0) return;
  app.exit = ExitCode.partial;
  const rows = (which: string) => next("rows", id, "--status", which);
  if (status === "failed") await app.io.note("The service could not run this import; no row was processed.");
  if (failed > 0) await app.io.note(`${counted(failed, "row")} failed: ${rows("failed")}`);
  if (partial > 0) {
    await app.io.note(
      `${counted(partial, "row")} imported without some of ${partial === 1 ? "its" : "their"} photos: ${rows("partial")}`,
    );
  }
}

function progressOf({ status, counts }: Import): ProgressEvent {
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
