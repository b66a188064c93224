import type { Command } from "commander";
import { CatError, fileProblem } from "../../errors.ts";
import { maskedCredentials } from "../../http/mask.ts";
import type { App } from "../app/app.ts";
import { ExitCode } from "../context/errors.ts";
import { printLine } from "../output/io.ts";
import { checkedNotifyUrl, maskNotifyUrl } from "../settings/notify-url.ts";
import { profileInUse, type Sourced } from "../settings/settings.ts";
import type { CommandOutcome } from "./metrics.ts";
import {
  type NoticeLimit,
  type NoticeReceiver,
  type NoticeStep,
  noticeMs,
  sendNotice,
  toReceiver,
} from "./notice.ts";

/** What the flags, variables and settings ask for. */
interface Wanted {
  /** Where notices go, and the flag, variable or setting that says so. */
  readonly notify: Sourced | null;
  /** The file of `--metrics`. */
  readonly metrics: string | undefined;
}

/** The entries of a list in a notice: receivers cut off long texts. */
const mostListed = 100;

/**
 * Sends a notice of the start, and has the program report the end: in the metrics file, then in a notice.
 * Neither changes the exit status. Throws UsageError for a URL or a file that cannot be used.
 */
export async function openMonitoring(app: App, called: Command, { notify, metrics }: Wanted): Promise<void> {
  const command = called.parent?.name() === "export" ? "export sync" : called.name();
  const monitoring = new Monitoring(app, command, await profileName(app), toNotified(app, notify));
  app.afterRun = (exit, error) => monitoring.end(exit, error);
  // After that, so that the receiver gets what is wrong with the file.
  if (metrics !== undefined) await monitoring.addTo(metrics);
}

function toNotified({ secrets }: App, notify: Wanted["notify"]): NoticeReceiver | null {
  if (notify === null) return null;
  maskNotifyUrl(secrets, notify.value);
  const url = checkedNotifyUrl(notify.value, notify.source);
  return toReceiver(notify.value, url);
}

/** The profile in use; null if the settings cannot be read, which the command reports. */
const profileName = async ({ globals, context }: App): Promise<string | null> =>
  globals.mock
    ? "mock"
    : profileInUse(globals, context).then(
        ({ name }) => name,
        () => null,
      );

const lateStart = new Error("no response before the end of the run");

class Monitoring {
  readonly #app: App;
  readonly #about: {
    readonly command: string;
    readonly host: string | null;
    readonly profile: string | null;
  };
  readonly #receiver: NoticeReceiver | null;
  readonly #startedAt: number;
  readonly #started: Promise<void> | undefined;
  readonly #stopStart = new AbortController();
  #metrics: { readonly name: string; readonly path: string } | undefined;

  constructor(app: App, command: string, profile: string | null, receiver: NoticeReceiver | null) {
    this.#app = app;
    this.#about = { command, host: app.context.who?.().split("@").at(-1) ?? null, profile };
    this.#receiver = receiver;
    this.#startedAt = app.context.clock.now();
    if (receiver === null || !receiver.hasSteps) return;
    const limit = { until: this.#startedAt + noticeMs, signal: this.#stopStart.signal };
    const body = { ...this.#about, outcome: "started", started_at: this.#startTime };
    this.#started = this.#send(receiver, "start", body, limit);
  }

  async addTo(name: string): Promise<void> {
    const { checkMetricsFile } = await import("./metrics-file.ts");
    this.#metrics = { name, path: await checkMetricsFile(this.#app, name) };
  }

  /** Reports the end of the command; never throws. */
  async end(exit: number, error: unknown): Promise<void> {
    const { clock, interrupt } = this.#app.context;
    const endedAt = clock.now();
    // An interrupt after the run skips what is left of the reports. It changes no exit status.
    const limit = { until: endedAt + noticeMs, signal: interrupt.aborted ? undefined : interrupt };
    await this.#writeMetrics(exit, endedAt, limit.signal);
    if (this.#receiver !== null) await this.#notifyOfEnd(this.#receiver, { exit, error, endedAt }, limit);
  }

  get #startTime(): string {
    return new Date(this.#startedAt).toISOString();
  }

  async #writeMetrics(exit: number, endedAt: number, signal: AbortSignal | undefined): Promise<void> {
    if (this.#metrics === undefined) return;
    const { name, path } = this.#metrics;
    const { runs, lastFailure } = this.#app;
    try {
      const { addToMetricsFile } = await import("./metrics-file.ts");
      const ended = {
        command: this.#about.command,
        profile: this.#about.profile ?? "",
        outcome: toOutcome(exit),
        exit,
        startedAt: this.#startedAt,
        endedAt,
        summaries: runs.summaries,
        requests: lastFailure?.statuses ?? new Map(),
      };
      await addToMetricsFile(this.#app.context.clock, path, ended, signal);
    } catch (error) {
      const { cause = error, message } = error as Error;
      const why = fileProblem(cause)?.why ?? message;
      await this.#warn(`cannot write --metrics ${name}: ${why}`);
    }
  }

  async #notifyOfEnd(
    receiver: NoticeReceiver,
    { exit, error, endedAt }: { exit: number; error: unknown; endedAt: number },
    limit: NoticeLimit,
  ): Promise<void> {
    // The receiver must not get the start after the end, for which half of the time is left.
    const { clock } = this.#app.context;
    const cancel = clock.at(limit.until - noticeMs / 2, () => this.#stopStart.abort(lateStart));
    const skip = () => this.#stopStart.abort(limit.signal?.reason);
    if (limit.signal?.aborted) skip();
    limit.signal?.addEventListener("abort", skip, { once: true });
    await this.#started;
    limit.signal?.removeEventListener("abort", skip);
    cancel();
    const { summary, runId, begun } = this.#app.runs;
    const body = {
      ...this.#about,
      outcome: toOutcome(exit),
      exit,
      run_id: runId,
      started_at: this.#startTime,
      duration_ms: Math.round(endedAt - this.#startedAt),
      ...(exit !== ExitCode.done && { error: describeError(error) }),
      ...shortened(summary ?? {}),
      // Rejected before a flow opened a run.
      ...(runId === null && begun),
    };
    await this.#send(receiver, exit === ExitCode.done ? "success" : "fail", body, limit);
  }

  async #send(receiver: NoticeReceiver, step: NoticeStep, body: object, limit: NoticeLimit): Promise<void> {
    const text = maskedCredentials(this.#app.secrets.mask(JSON.stringify(body)));
    const why = await sendNotice(this.#app.context, { receiver, step, body: text }, limit);
    const what = step === "start" ? "the notice of the start" : "the notice of the result";
    if (why !== null) await this.#warn(`cannot send ${what} to ${receiver.url.origin}: ${why}`);
  }

  /** Also with --quiet: a night without its notice must be seen somewhere. */
  async #warn(message: string): Promise<void> {
    // The reader of stderr may be gone, which changes no exit status.
    await printLine(this.#app, this.#app.io.json ? message : `warning: ${message}`).catch(() => {});
  }
}

function toOutcome(exit: number): CommandOutcome {
  if (exit === ExitCode.done) return "success";
  if (exit === ExitCode.partial) return "partial";
  return exit > 128 ? "interrupted" : "failed";
}

const describeError = (error: unknown) =>
  error instanceof CatError
    ? { type: error.type, code: error.code, message: error.message }
    : { type: "internal", code: "fault", message: error instanceof Error ? error.message : String(error) };

/** A summary whose long lists are cut, and named. */
function shortened(summary: object): object {
  const entries = Object.entries(summary) as [string, unknown][];
  const cut = entries.flatMap(([name, value]) =>
    Array.isArray(value) && value.length > mostListed ? [name] : [],
  );
  const short = entries.map(([name, value]) => [
    name,
    cut.includes(name) ? (value as []).slice(0, mostListed) : value,
  ]);
  return { ...Object.fromEntries(short), ...(cut.length > 0 && { cut }) };
}
