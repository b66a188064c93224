import { operations } from "../../../contract/operations.ts";
import type { Import } from "../../../contract/resources/import.ts";
import { isEnded } from "../../../flows/import/results/follow-imports.ts";
import type { ProgressEvent } from "../../../flows/progress-event.ts";
import type { App } from "../../app/app.ts";
import { ExitCode } from "../../context/exit.ts";
import { counted, grouped } from "../../output/numbers.ts";
import { watchJob } from "../../resources/watch-job.ts";
import { rememberStatus } from "./remember-status.ts";

/** `cat imports watch` */
export const watchCommand = watchJob<typeof operations.imports.get>({
  noun: "import",
  description: "Ends with 0 when every row succeeded and with 8 when some did not.",
  operation: operations.imports.get,
  input: (id) => ({ import_id: id }),
  isEnded,
  progressOf,
  unit: "row",
  onSeen: rememberStatus,
  reportEnd,
  examples: [
    ["the last import, which was sent with --no-wait", "cat imports list --limit 1"],
    ["wait for its end, ten minutes at most", "cat imports watch ID --timeout 10m"],
  ],
});

/** Notes which rows failed, with the command that lists them, and sets exit status 8. */
async function reportEnd(app: App, job: Import, next: (...words: string[]) => string): Promise<void> {
  const { id, status } = job;
  const { failed, partial } = job.counts;
  if (status === "completed" && failed + partial === 0) return;
  app.exit = ExitCode.partial;
  const rows = (which: string) => next("rows", id, "--status", which);
  if (status === "failed") await app.io.note("The service could not run this import: no row was processed.");
  if (failed > 0) await app.io.note(`${counted(failed, "row")} failed: ${rows("failed")}`);
  if (partial > 0) {
    await app.io.note(
      `${counted(partial, "row")} partial, the product is there, some of its photos are not: ${rows("partial")}`,
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
    step: status === "validating" ? status : "processing",
    done: succeeded + partial + failed,
    total,
    ...(note.length > 0 ? { note: note.join(", ") } : {}),
  };
}
