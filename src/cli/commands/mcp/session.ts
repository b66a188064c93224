import type { App } from "../../app/app.ts";
import type { Job, Jobs } from "./jobs.ts";
import type { CheckedPath, Root } from "./root.ts";

/** What a tool does: a value, a picture, or a command to wait for. */
export type Outcome =
  | { readonly value: unknown }
  | { readonly picture: { readonly data: string; readonly mimeType: string } }
  | StartedJob;

/** A command whose question, run or end is waited for. */
export interface StartedJob {
  readonly job: Job;
  /** Besides a question and the end: the beginning of its run, or the agreement of a person. */
  readonly until: "run" | "agreement" | "end";
  readonly waitMs: number;
  /** Whether its output alone is the result of the call, and not a report on it. */
  readonly isResult?: true;
}

/** Clients give a call 60 seconds. */
export const longestCallMs = 45_000;
const startMs = 20_000;

export const awaitedResult = (job: Job): StartedJob => ({
  job,
  until: "end",
  waitMs: longestCallMs,
  isResult: true,
});
export const awaitedStart = (job: Job, until: StartedJob["until"] = "run"): StartedJob => ({
  job,
  until,
  waitMs: startMs,
});

/** What a call works with. */
export interface Session {
  /** With the signal of this call as its interrupt. */
  readonly app: App;
  readonly root: Root;
  readonly jobs: Jobs;
  readonly options: { readonly signal: AbortSignal };
  /** `release` is called at the end of the command. */
  start(words: readonly string[], paths?: readonly CheckedPath[], release?: () => Promise<void>): Job;
}
