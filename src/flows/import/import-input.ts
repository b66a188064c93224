import type { Client } from "../../client/client.ts";
import type { Clock } from "../../clock.ts";
import type { ImportMode, OnImageError } from "../../contract/value-sets.ts";
import type { ProgressEvent } from "../progress-event.ts";
import type { OutputPipe } from "./output-pipe.ts";
import type { ReadOptions } from "./read/open-rows.ts";
import type { Problem } from "./read/problem.ts";
import type { Source } from "./read/source.ts";

/** A file to write: its path, and its name as people are to see it. */
export interface OutputTarget {
  path: string;
  name: string;
  /** Where the path is that of a pipe: it, opened before anything was sent. */
  pipe?: OutputPipe | undefined;
}

export interface ImportInput {
  source: Source;
  read: ReadOptions;
  mode: ImportMode;
  onImageError: OnImageError;
  /** Leave out the rows that the check refuses, and import the others. */
  skipInvalid: boolean;
  /** Whether to follow the jobs to their end and read their results. */
  wait: boolean;
  /** How many calls are on their way at once. */
  concurrency: number;
  /** How long to wait for the jobs in all, in milliseconds; null for as long as they take. */
  timeoutMs: number | null;
}

/** The files of a run. */
export interface OutputTargets {
  /** Where the failed rows go; a file that the user did not name is never overwritten. */
  failedFile: OutputTarget & { overwrite: boolean };
  resultsFile: OutputTarget | null;
}

export interface ImportDeps {
  clock: Clock;
  random: () => number;
  /** A new id for this run, used in names of unfinished files as well. */
  runId: string;
  /** Called once the file was found in order, and before anything is sent: throws when a file could not be written. */
  targets: () => Promise<OutputTargets>;
  /** Called after that: what follows needs the service. */
  client: () => Promise<Client>;
  signal?: AbortSignal | undefined;
  onProgress: (event: ProgressEvent) => void;
  onProblem: (problem: Problem) => void | Promise<void>;
}
