import { type Command, Option } from "commander";
import type { AnyOperation, Input, Reply } from "../../client/call-types.ts";
import { fieldTree } from "../../contract/response-values.ts";
import { CatError } from "../../errors.ts";
import type { ProgressEvent } from "../../flows/progress-event.ts";
import { counted, grouped } from "../../flows/words.ts";
import { TimeoutError } from "../../http/errors.ts";
import type { App } from "../app/app.ts";
import { InterruptError } from "../context/errors.ts";
import { command, examples } from "../flags/command.ts";
import { duration } from "../flags/duration.ts";
import {
  type RawPrintFlags,
  type ResourceForm,
  readPrintFlags,
  withPrintFlags,
} from "../flags/print-flags.ts";
import { resourceId } from "../flags/resource-id.ts";
import { commandLine } from "../output/command-line.ts";
import type { Printing } from "../output/printing.ts";

/** A job as its operation returns it, with the two fields that `watch` reads. */
type JobOf<O extends AnyOperation> = Reply<O> & { readonly id: string; readonly status: string };

/** Describes a `watch` command: the operation that it polls, and how it reports the job. */
export interface JobWatch<O extends AnyOperation> {
  /** The job, e.g. `import`; its command group is the plural. */
  readonly noun: string;
  readonly description: string;
  readonly operation: O;
  /** The columns of CSV. */
  readonly columns: ResourceForm<Reply<O>>["columns"];
  input(id: string): Input<O>;
  isEnded(job: JobOf<O>): boolean;
  progressOf(job: JobOf<O>): ProgressEvent;
  /** The unit of `done` and `total` in the progress, e.g. `row`. */
  readonly unit: string;
  /** Stores the last state that was seen, also when watching stopped before the job finished. */
  onSeen?(app: App, job: JobOf<O>): Promise<void>;
  /**
   * Prints notes on the result and sets the exit status; `next` builds a command of the same group for the
   * user to copy.
   */
  reportEnd(app: App, job: JobOf<O>, next: (...words: string[]) => string): Promise<void>;
  readonly examples: Parameters<typeof examples>[0];
}

interface WatchInput {
  id: string;
  /** The longest wait in milliseconds; undefined for no limit. */
  timeoutMs: number | undefined;
  printing: Printing<object>;
}

/** `watch ID [--timeout TIME]` for one kind of job. */
export const watchJob =
  <O extends AnyOperation>(watch: JobWatch<O>) =>
  (app: App): Command => {
    const { noun, operation, columns } = watch;
    const whose = /^[aeiou]/.test(noun) ? `an ${noun}` : `a ${noun}`;
    const made = command("watch")
      .summary(`wait for ${whose} to finish`)
      .usage("ID [flags]")
      .description(`Wait for ${whose} to finish, then show it. ${watch.description}`)
      .argument("<ID>", `ID of the ${noun}`)
      .addOption(
        new Option("--timeout <TIME>", "stop waiting after TIME, e.g. 90s, 30m, 2h (exit 7)").argParser(
          duration,
        ),
      );
    return withPrintFlags(made)
      .addHelpText("after", examples(watch.examples))
      .action(async (id: string, { timeout, ...flags }: { timeout?: number } & RawPrintFlags) => {
        const form = { columns, fields: fieldTree(operation.reply) } as ResourceForm<object>;
        const printing = readPrintFlags(flags, form);
        await follow(app, watch, { id: resourceId(id, noun), timeoutMs: timeout, printing });
      });
  };

/** Polls a job until it ends and prints it; with `--json` also when watching stopped earlier. */
async function follow<O extends AnyOperation>(
  app: App,
  watch: JobWatch<O>,
  { id, timeoutMs, printing }: WatchInput,
): Promise<void> {
  const client = await app.client();
  const { interrupt } = app.context;
  const seen: { job: JobOf<O> | null } = { job: null };
  const isEnded = (body: Reply<O>) => watch.isEnded(body as JobOf<O>);
  const progress = await app.io.progress();
  const ended = await client
    .poll(watch.operation, watch.input(id), {
      done: isEnded,
      onAnswer(body) {
        const job = body as JobOf<O>;
        // A job that ended before the first poll has no progress to show.
        if (seen.job !== null || !isEnded(job)) progress.update(watch.progressOf(job));
        seen.job = job;
      },
      timeoutMs,
      signal: interrupt,
    })
    .then(
      () => null,
      (error: unknown) => ({ error }),
    )
    .finally(() => progress.end());
  const { job } = seen;
  const next = (...words: string[]) => commandLine([`${watch.noun}s`, ...words], app.globals);
  if (job !== null && (ended === null || app.io.json)) await app.io.resource<object>(job, printing);
  if (job !== null) await watch.onSeen?.(app, job);
  if (ended === null) return watch.reportEnd(app, job!, next);
  const again = next("watch", id);
  if (interrupt.aborted) throw interrupted(interrupt, watch, job, again);
  throw explained(ended.error, watch, { id, timeoutMs }, job, again);
}

/** The interrupt. If the job was seen, the message says that it keeps running. */
function interrupted(
  { reason }: AbortSignal,
  { noun }: { noun: string },
  job: { id: string } | null,
  again: string,
): unknown {
  if (job === null || !(reason instanceof InterruptError)) return reason;
  return new InterruptError(reason.signal, {
    message: `interrupted; ${noun} ${job.id} keeps running on the service`,
    hint: `To watch it again: ${again}`,
  });
}

/** The error that stopped watching; a timeout gets the progress of the job. */
function explained<O extends AnyOperation>(
  error: unknown,
  { noun, unit, progressOf }: JobWatch<O>,
  { id, timeoutMs }: Pick<WatchInput, "id" | "timeoutMs">,
  job: JobOf<O> | null,
  again: string,
): unknown {
  if (!(error instanceof CatError) || error.code !== "wait_timeout") return error;
  const { done, total } = job === null ? { done: 0, total: null } : progressOf(job);
  const counts = total === null ? "" : `, ${grouped(done)} of ${counted(total, unit)} done`;
  const state = job === null ? "" : ` (${job.status}${counts})`;
  return new TimeoutError(
    `timed out after ${(timeoutMs ?? 0) / 1000} s: ${noun} ${id} is still in progress${state}`,
    {
      code: error.code,
      hint: `It keeps running on the service. To watch it again: ${again}`,
    },
  );
}
