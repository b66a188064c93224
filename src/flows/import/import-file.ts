import type { Client } from "../../client/client.ts";
import type { Clock } from "../../clock.ts";
import type { ImportMode, OnImageError } from "../../contract/value-sets.ts";
import { cutIntoCalls } from "./calls.ts";
import { type CheckResult, checkFile } from "./check.ts";
import { closeRun } from "./close-run.ts";
import { Follower } from "./follow.ts";
import type { RowFailure } from "./outcomes.ts";
import { ImportProgress, type ProgressEvent } from "./progress.ts";
import { openRows, type ReadOptions } from "./read/open-rows.ts";
import type { Problem } from "./read/problem.ts";
import type { Source } from "./read/source.ts";
import { type SentCall, sendCalls } from "./send.ts";
import type { ImportSummary } from "./summary.ts";

/** A file to write: its path, and its name as people are to see it. */
export interface OutputTarget {
  path: string;
  name: string;
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
  /** Where the failed rows go; a file that the user did not name is never overwritten. */
  failedFile: OutputTarget & { overwrite: boolean };
  resultsFile: OutputTarget | null;
}

export interface ImportDeps {
  clock: Clock;
  random: () => number;
  /** A new id for this run, used in names of unfinished files as well. */
  runId: string;
  /** Called once the file was found in order: what follows needs the service. */
  client: () => Promise<Client>;
  signal?: AbortSignal | undefined;
  onProgress: (event: ProgressEvent) => void;
  onProblem: (problem: Problem) => void | Promise<void>;
}

export interface ImportOutcome {
  check: CheckResult;
  /** Null when the file was refused and nothing was sent. */
  summary: ImportSummary | null;
  /** What stopped the run before its end, if anything did; the summary tells how far it came. */
  stopped: unknown;
  /** What became of each call. */
  sent: SentCall[];
}

/**
 * The bulk import: read, check, cut into calls, send, follow, close. Resume, the photo ledger and local photos will
 * stand between check and send: a run's calls are values (`Call`, `SentCall`) so that they can be written down.
 */
export async function importFile(input: ImportInput, deps: ImportDeps): Promise<ImportOutcome> {
  const started = deps.clock.now();
  const refused = new Map<number, RowFailure>();
  const check = await checkFile(input.source, input.read, {
    ...deps,
    onProblem: (problem) => {
      if (input.skipInvalid && !refused.has(problem.line)) refused.set(problem.line, problem);
      return deps.onProblem(problem);
    },
    onProgress: (done) => deps.onProgress({ step: "checking", done, total: null }),
  });
  if (check.unusable || check.valid === 0 || (check.invalid > 0 && !input.skipInvalid)) {
    return { check, summary: null, stopped: undefined, sent: [] };
  }
  const client = await deps.client();
  const deadline = input.timeoutMs === null ? null : deps.clock.now() + input.timeoutMs;
  const progress = new ImportProgress(check.valid, deps.onProgress);
  const follower = new Follower({ ...deps, client, deadline, onProgress: progress.followed });
  const reader = await openRows(input.source, input.read);
  const calls = cutIntoCalls(input.source, reader, [...refused.keys()]);
  const { sent, stopped: stoppedSending } = await sendCalls(calls, {
    ...input,
    ...deps,
    client,
    onAccepted: ({ importId, lines }) => {
      progress.accepted(lines.length);
      if (input.wait) follower.add(importId);
    },
  });
  progress.allSent();
  const followed = await follower.settled();
  const run = { input, deps, client, check, refused, sent, latest: follower.latest };
  const { summary, stopped } = await closeRun({ ...run, complete: stoppedSending === undefined });
  summary.duration_ms = Math.round(deps.clock.now() - started);
  return {
    check,
    summary,
    stopped: deps.signal?.aborted ? deps.signal.reason : (stoppedSending ?? followed ?? stopped),
    sent,
  };
}
