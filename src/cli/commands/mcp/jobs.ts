import { PassThrough, Readable } from "node:stream";
import { CatError } from "../../../errors.ts";
import { parseJson } from "../../../json.ts";
import type { App } from "../../app/app.ts";
import { newRunId } from "../../app/recorded-runs.ts";
import type { Confirmation, Context } from "../../context/context.ts";
import { ExitCode, exitMeanings, InterruptError, UsageError } from "../../context/errors.ts";
import type { Output } from "../../context/standard-streams.ts";
import type { DailyLimit } from "./daily-limit.ts";
import type { CheckedPath } from "./root.ts";

/** Commands that work at once; each has its own connections and memory. */
const mostRunning = 8;
/** Ended commands whose results are kept. */
const mostKept = 20;
/** The longest output that is kept, in characters: about 60,000 problems of a file. */
const longestOutput = 8_000_000;
const mostNotes = 20;
/** Problems or tasks in one result. */
const mostListed = 10;
/** A question without a decision is declined after this time, because its run keeps others out. */
export const patienceMs = 10 * 60_000;

/** A question of a command that waits for a person. */
export interface Question {
  readonly message: string;
  /** Aborts when it has its answer. */
  readonly signal: AbortSignal;
  /** null: the client could not show it. A second answer changes nothing. */
  answer(yes: boolean | null): void;
}

/** A command line in this process, whose output is kept for the agent. */
export class Job {
  /** That of its run, once it has one. */
  id: string;
  /** The one that was returned before. */
  readonly firstId: string;
  exit: number | null = null;
  /** Why its output is withheld: it may be that of a file out of the root. */
  fault: unknown = null;
  question: Question | null = null;
  hasRun = false;
  /** Whether a person has agreed to what it does. */
  isAgreed = false;
  readonly #stop = new AbortController();
  readonly #changed = new Set<() => void>();
  #stdout: string[] = [];
  #length = 0;
  #progress: unknown = null;
  #error: unknown = null;
  readonly #notes: string[] = [];

  constructor(id: string) {
    this.id = id;
    this.firstId = id;
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  stop(): void {
    this.#stop.abort(new InterruptError("SIGTERM"));
    this.question?.answer(false);
  }

  /** Resolves when a question, the run or the end has come since, or at the signal. */
  async change(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.#changed.add(resolve);
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  changed(): void {
    for (const resolve of this.#changed) resolve();
    this.#changed.clear();
  }

  get stdout(): Output {
    return outputOf((text) => {
      this.#length += text.length;
      if (this.#length <= longestOutput) this.#stdout.push(text);
      else this.#stdout = [];
    });
  }

  get stderr(): Output {
    return outputOf((text) => {
      for (const line of text.split("\n").filter((line) => line.trim() !== "")) this.#readLine(line);
    });
  }

  /** Lines of JSON are progress and errors (`--json --progress json`); others are for people. */
  #readLine(line: string): void {
    const { progress, error } = (line.startsWith("{") ? parsed(line) : {}) as Record<string, unknown>;
    if (progress !== undefined) this.#progress = progress;
    else if (error !== undefined) this.#error = error;
    else if (this.#notes.length < mostNotes) this.#notes.push(line);
  }

  /** The values that it printed, in order; null while it works, or if it printed more than is kept. */
  get results(): readonly unknown[] | null {
    if (this.fault !== null) throw this.fault;
    if (this.exit === null || this.#length > longestOutput) return null;
    return this.#stdout
      .join("")
      .split("\n")
      .filter((line) => line !== "")
      .map(parsed);
  }

  /** Whether it did less than all. */
  get isFailed(): boolean {
    return this.exit !== null && (this.exit !== 0 || this.#error !== null);
  }

  /** The end of a command: its error, or what it printed. */
  get result(): unknown {
    const [first, ...others] = (this.results ?? ["too long to show"]).map(withShortLists);
    const result = others.length === 0 ? first : [first, ...others];
    return this.isFailed ? { ...this.#end, result } : result;
  }

  /** What an agent reads about a run. */
  get report(): object {
    const { id: run, exit, result } = this;
    const areOfRoot = exit !== null || this.hasRun;
    const notes = areOfRoot && this.#notes.length > 0 ? this.#notes : undefined;
    if (exit !== null)
      return {
        run,
        state: "ended",
        ...(this.isFailed ? (result as object) : { ...this.#end, result }),
        notes,
      };
    const state = this.question === null ? "running" : "waiting_for_a_person";
    return { run, state, progress: this.#progress ?? undefined, notes };
  }

  get #end() {
    const exit = this.exit as keyof typeof exitMeanings;
    // An answer of no is no error of the command.
    const isDeclined = exit === ExitCode.done && this.#error !== null;
    return {
      exit,
      outcome: isDeclined ? "declined" : exitMeanings[exit],
      ...(this.#error !== null && { error: this.#error }),
    };
  }
}

/** A result with the first entries of long lists alone: `run_rows` pages through all. */
function withShortLists(result: unknown): unknown {
  if (typeof result !== "object" || result === null) return result;
  const short: Record<string, unknown> = { ...result };
  for (const name of ["problems", "tasks"]) {
    const list = short[name];
    if (!Array.isArray(list) || list.length <= mostListed) continue;
    short[name] = list.slice(0, mostListed);
    short[`more_${name}`] = list.length - mostListed;
  }
  return short;
}

const parsed = (line: string): unknown => {
  try {
    return parseJson(line);
  } catch {
    return line;
  }
};

/** No terminal: what is written goes to `keep`. */
const outputOf = (keep: (text: string) => void): Output => ({
  isTTY: false,
  columns: 80,
  rows: 24,
  write: (text) => keep(Buffer.from(text as string).toString()),
  raw: new PassThrough().resume(),
});

function recheckAll(paths: readonly CheckedPath[]): void {
  for (const { recheck } of paths) recheck();
}

function problemOf(paths: readonly CheckedPath[]): unknown {
  try {
    recheckAll(paths);
    return null;
  } catch (error) {
    return error;
  }
}

/** How the questions of a command are answered. */
export interface Asking {
  /** Whether the agent's program can ask a person. */
  readonly canAsk: boolean;
  /** Whether the person has agreed to all of this kind beforehand. */
  readonly isAgreed: boolean;
}

/** The commands that tools have started. */
export class Jobs {
  readonly #app: App;
  readonly #limit: DailyLimit;
  readonly #jobs: Job[] = [];
  readonly #ends = new Set<Promise<void>>();
  #isStopping = false;

  constructor(app: App, limit: DailyLimit) {
    this.#app = app;
    this.#limit = limit;
  }

  find(id: string): Job | undefined {
    return this.#jobs.find((job) => job.id === id || job.firstId === id);
  }

  /** Starts a command; `release` is called at its end. A CatError of type conflict if too many work. */
  start(
    words: readonly string[],
    cwd: string,
    paths: readonly CheckedPath[],
    asking: Asking,
    release: () => Promise<void>,
  ): Job {
    const running = this.#jobs.filter(({ exit }) => exit === null).length;
    if (running >= mostRunning || this.#isStopping)
      throw new CatError(`${running} commands are in progress; nothing was started`, {
        type: "conflict",
        code: "too_many_commands",
        hint: "Wait until one of them has ended: run_status.",
      });
    const { globals, context, runCommand } = this.#app;
    const job = new Job(newRunId(context.clock.now()));
    this.#keep(job);
    const chosen = [
      ...(globals.profile === undefined ? [] : [`--profile=${globals.profile}`]),
      ...(globals.baseUrl === undefined ? [] : [`--base-url=${globals.baseUrl}`]),
    ];
    const argv = [...words, ...chosen, "--json", "--progress=json"];
    const end = runCommand(argv, this.#contextOf(job, cwd, paths, asking))
      .catch(() => ExitCode.fault)
      .then(async (exit) => {
        await release();
        // Later the run has read its file, which the user may edit.
        if (!job.hasRun) job.fault = problemOf(paths);
        job.exit = exit;
        job.changed();
      });
    this.#ends.add(end);
    void end.finally(() => this.#ends.delete(end));
    return job;
  }

  /** Ends all questions: the response to one of them cannot be read. */
  endQuestions(): void {
    for (const { question } of this.#jobs) question?.answer(null);
  }

  /** Interrupts all commands, and waits until they have ended at a safe point. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    for (const job of this.#jobs) if (job.exit === null) job.stop();
    await Promise.allSettled(this.#ends);
  }

  #keep(job: Job): void {
    const ended = this.#jobs.filter(({ exit }) => exit !== null);
    for (const old of ended.slice(0, Math.max(0, ended.length - mostKept + 1)))
      this.#jobs.splice(this.#jobs.indexOf(old), 1);
    this.#jobs.push(job);
  }

  #contextOf(job: Job, cwd: string, paths: readonly CheckedPath[], asking: Asking): Context {
    const own: Partial<Context> = {
      stdin: Readable.from([]),
      stdout: job.stdout,
      stderr: job.stderr,
      cwd,
      interrupt: job.signal,
      onStop: () => () => {},
      passSignals: async () => () => {},
      confirm: (asked) => this.#confirm(job, asked, paths, asking),
      onRun(runId) {
        recheckAll(paths);
        job.id = runId;
        job.hasRun = true;
        job.changed();
      },
      // The process goes on when a command has ended.
      release: () => {},
    };
    const properties = Object.entries(own).map(([name, value]) => [name, { value }] as const);
    return Object.create(this.#app.context, Object.fromEntries(properties));
  }

  /** Asks the person, and counts the images that they agree to. */
  async #confirm(
    job: Job,
    { question, about, images }: Confirmation,
    paths: readonly CheckedPath[],
    asking: Asking,
  ): Promise<boolean> {
    recheckAll(paths);
    await this.#limit.check(images);
    if (!asking.isAgreed) {
      const message = about === undefined ? question : `${question}\n${about}`;
      const answer = asking.canAsk ? await this.#ask(job, message) : null;
      if (answer === null)
        throw new UsageError(
          `this needs a person's confirmation, which this client cannot ask for: ${question}`,
          {
            code: "confirmation_needed",
            hint: "Use a client that supports elicitation, or run the command in a terminal.",
          },
        );
      if (!answer) return false;
      recheckAll(paths);
    }
    if (images > 0) await this.#limit.take(images);
    job.isAgreed = true;
    job.changed();
    return true;
  }

  async #ask(job: Job, message: string): Promise<boolean | null> {
    const { clock } = this.#app.context;
    job.signal.throwIfAborted();
    const open = new AbortController();
    const answer = await new Promise<boolean | null>((resolve) => {
      const cancel = clock.at(clock.now() + patienceMs, () => question.answer(false));
      const question: Question = {
        message,
        signal: open.signal,
        answer(yes) {
          if (job.question !== question) return;
          cancel();
          job.question = null;
          open.abort();
          resolve(yes);
        },
      };
      job.question = question;
      job.changed();
    });
    job.signal.throwIfAborted();
    return answer;
  }
}
