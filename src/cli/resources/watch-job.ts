import type { Command } from "commander";
import type { AnyOperation, Reply } from "../../client/request.ts";
import { CatError } from "../../errors.ts";
import type { ProgressEvent } from "../../flows/progress-event.ts";
import { counted, grouped } from "../../flows/words.ts";
import { TimeoutError } from "../../http/errors.ts";
import type { App } from "../app/app.ts";
import { InterruptError } from "../context/errors.ts";
import { type CommandTexts, command } from "../flags/command.ts";
import { timeoutFlag } from "../flags/common-flags.ts";
import { type RawPrintFlags, readPrintFlags, withPrintFlags } from "../flags/print-flags.ts";
import { resourceId } from "../flags/values.ts";
import { commandLine } from "../output/command-words.ts";
import type { Printing } from "../output/table.ts";
import { idInput, type ResourceGet, replyForm } from "./get-resource.ts";

/** A job as its operation returns it, with the two fields that `watch` reads. */
type JobOf<O extends AnyOperation> = Reply<O> & { readonly id: string; readonly status: string };

/** Describes a `watch` command: the operation that it polls, and how it reports the job. */
export interface JobWatch<O extends AnyOperation>
  extends Omit<ResourceGet<O>, "onSeen">,
    Omit<CommandTexts, "summary" | "usage"> {
  isEnded(job: JobOf<O>): boolean;
  toProgress(job: JobOf<O>): ProgressEvent;
  /** The unit of `done` and `total` in the progress, e.g. `row`. */
  readonly unit: string;
  /** Stores the last state that was seen, also when watching stopped before the job finished. */
  onSeen(app: App, job: JobOf<O>): Promise<void>;
  /** Prints notes on the result and sets the exit status; `next` builds a command of the group. */
  reportEnd(app: App, job: JobOf<O>, next: (...words: string[]) => string): Promise<void>;
}

/** `watch ID [--timeout TIME]` for one kind of job. */
export const watchJob = <O extends AnyOperation>(app: App, watch: JobWatch<O>): Command => {
  const { noun, about, examples } = watch;
  const article = /^[aeiou]/.test(noun) ? "an" : "a";
  const subcommand = command("watch", {
    summary: `wait for ${article} ${noun} to finish`,
    usage: "ID [flags]",
    about: `Wait for ${article} ${noun} to finish, then show it. ${about}`,
    examples,
  });
  return withPrintFlags(subcommand.argument("<ID>", `ID of the ${noun}`).addOption(timeoutFlag())).action(
    async (text: string, { timeout, ...flags }: { timeout?: number } & RawPrintFlags) => {
      const printing = readPrintFlags(flags, replyForm(watch));
      await follow(app, watch, { id: resourceId(text, noun), timeoutMs: timeout, printing });
    },
  );
};

/** Polls a job until it ends and prints it; with `--json` also when watching stopped earlier. */
async function follow<O extends AnyOperation>(
  app: App,
  watch: JobWatch<O>,
  { id, timeoutMs, printing }: { id: string; timeoutMs: number | undefined; printing: Printing<object> },
): Promise<void> {
  const client = await app.client();
  const { interrupt: signal } = app.context;
  let job: JobOf<O> | null = null;
  const isEnded = (body: Reply<O>) => watch.isEnded(body as JobOf<O>);
  const onResponse = (body: Reply<O>) => {
    // A job that ended before the first poll has no progress to show.
    if (job !== null || !isEnded(body)) progress.update(watch.toProgress(body as JobOf<O>));
    job = body as JobOf<O>;
  };
  const progress = await app.io.progress();
  const failure = await client
    .poll(watch.operation, idInput(watch, id), { done: isEnded, onResponse, timeoutMs, signal })
    .then(
      () => null,
      (error: unknown) => ({ error }),
    )
    .finally(() => progress.end());
  const seen = job as JobOf<O> | null;
  const next = (...words: string[]) => commandLine([`${watch.noun}s`, ...words], app.globals);
  if (seen !== null && (failure === null || app.io.json)) await app.io.resource<object>(seen, printing);
  if (seen !== null) await watch.onSeen(app, seen);
  if (failure === null) return watch.reportEnd(app, seen!, next);
  const hint = `To watch it again: ${next("watch", id)}`;
  if (signal.aborted) {
    if (seen === null || !(signal.reason instanceof InterruptError)) throw signal.reason;
    const message = `interrupted; ${watch.noun} ${id} keeps running on the service`;
    throw new InterruptError(signal.reason.signal, { message, hint });
  }
  const { error } = failure;
  if (!(error instanceof CatError) || error.code !== "wait_timeout") throw error;
  const state = seen === null ? "" : ` (${seen.status}${jobText(watch, seen)})`;
  throw new TimeoutError(
    `timed out after ${(timeoutMs ?? 0) / 1000} s: ${watch.noun} ${id} is still in progress${state}`,
    { code: error.code, hint: `It keeps running on the service. ${hint}` },
  );
}

function jobText<O extends AnyOperation>({ unit, toProgress }: JobWatch<O>, job: JobOf<O>): string {
  const { done, total } = toProgress(job);
  return total === null ? "" : `, ${grouped(done)} of ${counted(total, unit)} done`;
}
