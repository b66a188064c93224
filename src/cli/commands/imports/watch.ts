import { type Command, Option } from "commander";
import { operations } from "../../../contract/operations.ts";
import type { Import } from "../../../contract/resources/import.ts";
import { CatError } from "../../../errors.ts";
import { isEnded } from "../../../flows/import/results/follow-imports.ts";
import type { ProgressEvent } from "../../../flows/progress-event.ts";
import { TimeoutError } from "../../../http/errors.ts";
import type { App } from "../../app.ts";
import { command, examples } from "../../command.ts";
import { duration } from "../../duration.ts";
import { InterruptError } from "../../errors.ts";
import { ExitCode } from "../../exit.ts";
import { counted, grouped } from "../../output/numbers.ts";
import { shellWord } from "../../output/shell-word.ts";
import { importId } from "./import-id.ts";
import { rememberStatus } from "./remember-status.ts";

/** What is to be watched. */
export interface WatchInput {
  id: string;
  /** How long to wait, in milliseconds; undefined for as long as it takes. */
  timeoutMs: number | undefined;
}

/** `cat imports watch`: parses the argument and the flag; `run` does the work. */
export const watchCommand = (app: App, run = watchImport): Command =>
  command("watch")
    .summary("wait until an import has ended, and show it")
    .usage("ID [flags]")
    .description(
      "Wait until an import has ended, and show it. Ends with 0 when every row succeeded and with 8 when some did not.",
    )
    .argument("<ID>", "the import's id")
    .addOption(
      new Option("--timeout <TIME>", "how long to wait, e.g. 90s, 30m, 2h (then: exit 7)").argParser(
        duration,
      ),
    )
    .addHelpText(
      "after",
      examples([
        ["the last import, which was sent with --no-wait", "cat imports list --limit 1"],
        ["wait for its end, ten minutes at most", "cat imports watch ID --timeout 10m"],
      ]),
    )
    .action(async (id: string, { timeout }: { timeout?: number }) =>
      run(app, { id: importId(id), timeoutMs: timeout }),
    );

/** Follows an import to its end and prints it; with `--json` also when the watching ended before. */
export async function watchImport(app: App, input: WatchInput): Promise<void> {
  const client = await app.client();
  const { interrupt } = app.context;
  const { id, timeoutMs } = input;
  const seen: { job: Import | null } = { job: null };
  const progress = await app.io.progress();
  const ended = await client
    .poll(
      operations.imports.get,
      { import_id: id },
      {
        done: isEnded,
        onAnswer(job) {
          // What has ended before anybody looked has no progress to show.
          if (seen.job !== null || !isEnded(job)) progress.update(progressOf(job));
          seen.job = job;
        },
        timeoutMs,
        signal: interrupt,
      },
    )
    .then(
      () => null,
      (error: unknown) => ({ error }),
    )
    .finally(() => progress.end());
  const { job } = seen;
  if (job !== null && (ended === null || app.io.json)) await app.io.resource(job);
  if (job !== null) await rememberStatus(app, job);
  if (ended !== null)
    throw interrupt.aborted ? leaving(interrupt, app, job) : explained(ended.error, app, input, job);
  await tellEnd(app, job!);
}

/** Says which rows did not make it and how to see them, and has the program end with 8. */
async function tellEnd(app: App, { id, status, counts: { failed, partial } }: Import): Promise<void> {
  if (status === "completed" && failed + partial === 0) return;
  app.exit = ExitCode.partial;
  const rows = (which: string) => commandLine(app, ["rows", id, "--status", which]);
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
    // The last answer ends the bar that stands.
    step: status === "validating" ? status : "processing",
    done: succeeded + partial + failed,
    total,
    ...(note.length > 0 ? { note: note.join(", ") } : {}),
  };
}

/** The interrupt, with what becomes of the import, where it is known to be there. */
function leaving({ reason }: AbortSignal, app: App, job: Import | null): unknown {
  if (job === null || !(reason instanceof InterruptError)) return reason;
  return new InterruptError(reason.signal, {
    message: `interrupted: import ${job.id} goes on at the service; to watch it again: ${watchAgain(app, job.id)}`,
  });
}

/** Why the watching ended: of a wait that ran out, how far the import was. */
function explained(error: unknown, app: App, { id, timeoutMs }: WatchInput, job: Import | null): unknown {
  if (!(error instanceof CatError) || error.code !== "wait_timeout") return error;
  const { done, total } = job === null ? { done: 0, total: null } : progressOf(job);
  const rows = total === null ? "" : `, ${grouped(done)} of ${counted(total, "row")} done`;
  const state = job === null ? "" : ` (${job.status}${rows})`;
  return new TimeoutError(`import ${id} had not ended after ${(timeoutMs ?? 0) / 1000} s${state}`, {
    code: error.code,
    hint: `It goes on at the service. To watch it again: ${watchAgain(app, id)}`,
  });
}

const watchAgain = (app: App, id: string): string => commandLine(app, ["watch", id]);

/** A command about an import of the same service, to be copied. */
function commandLine({ globals: { profile, baseUrl } }: App, words: readonly string[]): string {
  const where = [
    ...(profile === undefined ? [] : ["--profile", profile]),
    ...(baseUrl === undefined ? [] : ["--base-url", baseUrl]),
  ];
  return ["cat", "imports", ...words, ...where].map(shellWord).join(" ");
}
