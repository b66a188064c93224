import { CatError } from "../../../errors.ts";
import type { SyncSummary } from "../../../flows/export/sync/result.ts";
import type { SyncOutcome } from "../../../flows/export/sync/sync.ts";
import { byteText, counted, grouped } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { ExitCode } from "../../context/exit.ts";
import type { SyncFlags } from "./sync-flags.ts";

/** Reports a run, and sets or throws what the program exits with. */
export async function reportSync(
  app: App,
  flags: SyncFlags,
  { summary, stopped }: SyncOutcome,
): Promise<void> {
  const isFinished = stopped === undefined || (stopped instanceof CatError && stopped.type === "partial");
  if (!isFinished) {
    const done = summary.added + summary.changed;
    // The same command does not resume before its key or its flags are right.
    if (!flags.dryRun && !isOfCommand(stopped)) await app.io.note(stoppedLine(done));
    throw stopped;
  }
  if (app.io.json) await app.io.jsonData(summary);
  else for (const line of reportLines(flags, summary)) await app.io.note(app.io.visible(line));
  if (stopped !== undefined) throw stopped;
  if (summary.failed === 0) return;
  // Without a summary, the exit status needs a reason.
  if (app.io.quiet && !app.io.json) throw notComplete(summary);
  app.exit = ExitCode.partial;
}

const isOfCommand = (error: unknown): boolean =>
  error instanceof CatError &&
  (error.status === 400 || error.status === 401 || error.status === 403 || error.type === "conflict");

const stoppedLine = (done: number): string =>
  `Stopped: ${counted(done, "image")} downloaded. To resume, run the same command again (nothing is downloaded twice).`;

function reportLines(flags: SyncFlags, summary: SyncSummary): string[] {
  const { total, failed, removed, bytes, duration_ms } = summary;
  const counts = (["added", "changed", "renamed", "removed", "failed", "unchanged"] as const)
    .filter((name) => summary[name] > 0)
    .map((name) => `${grouped(summary[name])} ${name}`);
  const what = counts.length === 0 ? "" : `: ${counts.join(", ")}`;
  if (flags.dryRun) {
    return [`${flags.folder} would have ${counted(total, "image")}${what}. Nothing was written (--dry-run).`];
  }
  const size = bytes === null || bytes === 0 ? "" : ` (${byteText(bytes)} downloaded)`;
  const seconds = (duration_ms / 1000).toFixed(1);
  const lines = [`Mirrored ${counted(total, "image")} in ${flags.folder} in ${seconds} s${what}${size}.`];
  if (removed > 0 && !flags.delete)
    lines.push("  Files of removed images were kept. To delete them, add --delete.");
  if (failed > 0) lines.push("To try failed images again, run the same command again.");
  if (summary.failures?.some(({ code }) => code === "file_too_large"))
    lines.push("To accept larger images, add --max-bytes, for example --max-bytes 200MB.");
  return lines;
}

const notComplete = ({ failed, total }: SyncSummary): CatError =>
  new CatError(`${grouped(failed)} of ${counted(total, "image")} failed`, {
    type: "partial",
    code: "images_failed",
    hint: "To try them again, run the same command again.",
  });
