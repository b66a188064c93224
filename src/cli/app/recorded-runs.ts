import { CatError } from "../../errors.ts";
import type { ListedRun, RunOrigin } from "../../state/run-list.ts";
import type { State } from "../../state/state.ts";
import type { Context } from "../context/context.ts";
import type { GlobalOptions } from "../context/globals.ts";
import type { Secrets } from "../output/secrets.ts";
import type { addOwnRun } from "./own-run.ts";

interface Recorder {
  readonly context: Context;
  readonly globals: Pick<GlobalOptions, "mock">;
  readonly typed: readonly string[];
  readonly secrets: Secrets;
  state(): Promise<State>;
  connection(): Promise<{ readonly baseUrl: string }>;
}

interface RunEnd {
  counts: ListedRun["counts"];
  /** Where the command has several runs; that of the command otherwise. */
  exit: number | undefined;
}

/** The runs of a command, for the list of runs (`cat runs list`). Those of `--mock` are not kept. */
export class RecordedRuns {
  /** The summary of each run, as the flows made it. */
  readonly summaries: { readonly run_id: string | null }[] = [];
  /** The summary of the command, which has several runs if it imports several files; null before its end. */
  summary: object | null = null;
  /** The latest run that was begun; null before. */
  runId: string | null = null;
  readonly #app: Recorder;
  readonly #opened = new Map<string, State>();
  /** The run of the command itself, until a flow opens another. */
  #own: ReturnType<typeof addOwnRun> | null = null;
  #ownId = "";
  readonly #ends = new Map<string, RunEnd>();
  readonly #changed = new Map<string, State>();

  constructor(app: Recorder) {
    this.#app = app;
  }

  /**
   * Records that a command begins, so that the list has it whatever stops it. Returns the ID of its run,
   * which one that a flow opens replaces.
   */
  async begin(kind: string, file: string): Promise<string> {
    const { clock, pid } = this.#app.context;
    const startedAt = clock.now();
    this.#ownId = newRunId(startedAt);
    const own = { id: this.#ownId, kind, file, startedAt, origin: this.#origin() };
    if (!this.#app.globals.mock)
      await this.#record(async (profile) => {
        if (profile !== null) this.#own = (await import("./own-run.ts")).addOwnRun(profile, own, pid);
      });
    return own.id;
  }

  /** A flow works on a run of a state. */
  async opened(state: State, id: string): Promise<void> {
    this.#app.context.onRun?.(id);
    this.runId = id;
    if (this.#app.globals.mock) return;
    this.#opened.set(id, state);
    await this.#record(async (profile) => {
      state.runList.begin(id, this.#origin());
      copyOf(state, id, profile);
      this.#own?.remove();
    });
    this.#own = null;
  }

  /** The run of the command itself starts: no state keeps an export of rows, a mirror or a removal. */
  starts(id: string): void {
    this.#app.context.onRun?.(id);
    this.runId = id;
  }

  /** Keeps every number of a run's summary. */
  counted<Summary extends { readonly run_id: string | null }>(summary: Summary, exit?: number): void {
    this.summaries.push(summary);
    this.summary = summary;
    const counts = Object.entries(summary).flatMap(([name, value]: [string, unknown]) =>
      typeof value === "number" && name !== "duration_ms" ? [[name, value] as const] : [],
    );
    if (summary.run_id !== null) this.#ends.set(summary.run_id, { counts: Object.fromEntries(counts), exit });
  }

  changed(state: State, id: string): void {
    this.#changed.set(id, state);
  }

  /** Records the exit status of the command, once. */
  async end(exit: number): Promise<void> {
    const own = this.#own;
    if (this.#app.globals.mock || (this.#opened.size === 0 && own === null)) return;
    await this.#record(async (profile) => {
      const endedAt = this.#app.context.clock.now();
      for (const [id, state] of this.#opened) {
        const { counts = null, exit: own = exit } = this.#ends.get(id) ?? {};
        state.runList.end(id, { exit: own, counts, endedAt });
        copyOf(state, id, profile);
      }
      for (const [id, state] of this.#changed) copyOf(state, id, profile);
      if (own === null) return;
      const { baseUrl = null } = (await this.#app.connection().catch(nullIfUnusable)) ?? {};
      const { counts = null } = this.#ends.get(this.#ownId) ?? {};
      own.end({ baseUrl, endedAt, exit, counts });
    });
    this.#opened.clear();
    this.#own = null;
  }

  #origin(): RunOrigin {
    const { context, typed, secrets } = this.#app;
    return { who: context.who?.() ?? null, folder: context.cwd, typed: typed.map(secrets.mask) };
  }

  /** A list that cannot be written stops no command: the job is done, and its summary has the ID. */
  async #record(write: (profile: State | null) => Promise<void>): Promise<void> {
    try {
      await write(await this.#app.state().catch(nullIfUnusable));
    } catch (error) {
      nullIfUnusable(error);
    }
  }
}

/** A run's ID: it sorts by time, and is never used twice. */
export const newRunId = (now: number): string => `run_${now.toString(36)}${crypto.randomUUID().slice(0, 8)}`;

function nullIfUnusable(error: unknown): null {
  if (error instanceof CatError) return null;
  throw error;
}

/** The runs of a ledger are in the list of the profile too. */
function copyOf(state: State, id: string, profile: State | null): void {
  const run = state === profile || profile === null ? null : state.runList.get(id);
  if (run !== null) profile!.runList.add({ ...run, ledger: state.path });
}
