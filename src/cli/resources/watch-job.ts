import { type Command, Option } from "commander";
import type { AnyOperation, Input, Reply } from "../../client/call-types.ts";
import { CatError } from "../../errors.ts";
import type { ProgressEvent } from "../../flows/progress-event.ts";
import { TimeoutError } from "../../http/errors.ts";
import type { App } from "../app/app.ts";
import { InterruptError } from "../context/errors.ts";
import { command, examples } from "../flags/command.ts";
import { duration } from "../flags/duration.ts";
import { resourceId } from "../flags/resource-id.ts";
import { commandLine } from "../output/command-line.ts";
import { counted, grouped } from "../output/numbers.ts";

/** A job as its operation gives it, with the two fields that watching reads. */
type JobOf<O extends AnyOperation> = Reply<O> & { readonly id: string; readonly status: string };

/** A `watch` command: the operation that it polls, and how it reports the job. */
export interface JobWatch<O extends AnyOperation> {
  /** The job, e.g. `import`; its command group is the plural. */
  readonly noun: string;
  readonly description: string;
  readonly operation: O;
  input(id: string): Input<O>;
  isEnded(job: JobOf<O>): boolean;
  progressOf(job: JobOf<O>): ProgressEvent;
  /** The thing that `done` and `total` of the progress count, e.g. `row`. */
  readonly unit: string;
  /** Keeps the last state that was seen, also when watching ended before the job. */
  onSeen?(app: App, job: JobOf<O>): Promise<void>;
  /** Notes on the end, and the exit status; `next` makes a command of the same group, to be copied. */
  reportEnd(app: App, job: JobOf<O>, next: (...words: string[]) => string): Promise<void>;
  readonly examples: Parameters<typeof examples>[0];
}

interface WatchInput {
  id: string;
  /** How long to wait, in milliseconds; undefined for as long as it takes. */
  timeoutMs: number | undefined;
}

/** `watch ID [--timeout TIME]` of a kind of job. */
export const watchJob =
  <O extends AnyOperation>(watch: JobWatch<O>) =>
  (app: App): Command => {
    const { noun } = watch;
    const whose = /^[aeiou]/.test(noun) ? `an ${noun}` : `a ${noun}`;
    return command("watch")
      .summary(`wait until ${whose} has ended, and show it`)
      .usage("ID [flags]")
      .description(`Wait until ${whose} has ended, and show it. ${watch.description}`)
      .argument("<ID>", `the ${noun}'s id`)
      .addOption(
        new Option("--timeout <TIME>", "how long to wait, e.g. 90s, 30m, 2h (then: exit 7)").argParser(
          duration,
        ),
      )
      .addHelpText("after", examples(watch.examples))
      .action(async (id: string, { timeout }: { timeout?: number }) =>
        follow(app, watch, { id: resourceId(id, noun), timeoutMs: timeout }),
      );
  };

/** Follows a job to its end and prints it; with `--json` also when watching ended before the job. */
async function follow<O extends AnyOperation>(
  app: App,
  watch: JobWatch<O>,
  { id, timeoutMs }: WatchInput,
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
  if (job !== null && (ended === null || app.io.json)) await app.io.resource(job);
  if (job !== null) await watch.onSeen?.(app, job);
  if (ended === null) return watch.reportEnd(app, job!, next);
  const again = next("watch", id);
  if (interrupt.aborted) throw interrupted(interrupt, watch, job, again);
  throw explained(ended.error, watch, { id, timeoutMs }, job, again);
}

/** The interrupt; it says that the job goes on where the job was seen. */
function interrupted(
  { reason }: AbortSignal,
  { noun }: { noun: string },
  job: { id: string } | null,
  again: string,
): unknown {
  if (job === null || !(reason instanceof InterruptError)) return reason;
  return new InterruptError(reason.signal, {
    message: `interrupted: ${noun} ${job.id} goes on at the service; to watch it again: ${again}`,
  });
}

/** Why watching ended; after a timeout with the progress of the job. */
function explained<O extends AnyOperation>(
  error: unknown,
  { noun, unit, progressOf }: JobWatch<O>,
  { id, timeoutMs }: WatchInput,
  job: JobOf<O> | null,
  again: string,
): unknown {
  if (!(error instanceof CatError) || error.code !== "wait_timeout") return error;
  const { done, total } = job === null ? { done: 0, total: null } : progressOf(job);
  const counts = total === null ? "" : `, ${grouped(done)} of ${counted(total, unit)} done`;
  const state = job === null ? "" : ` (${job.status}${counts})`;
  return new TimeoutError(`${noun} ${id} had not ended after ${(timeoutMs ?? 0) / 1000} s${state}`, {
    code: error.code,
    hint: `It goes on at the service. To watch it again: ${again}`,
  });
}
