import type { CheckResult } from "../rows/check.ts";
import { checkAndCollect } from "../rows/check-and-collect.ts";
import { changeOf } from "../rows/source.ts";
import { after, patienceOf } from "../run/stage.ts";
import type { Service } from "../service.ts";
import { decisive } from "../service-errors.ts";
import { closeRun } from "./close/close-run.ts";
import type { EndedRun } from "./close/ended-run.ts";
import { endEarlierRun } from "./end-earlier-run.ts";
import { changeFields, changeFieldsOfFailed } from "./fields/change-fields.ts";
import { prepare } from "./plan/prepare.ts";
import { type ClaimedImport, claimImport } from "./resume/claim-import.ts";
import { loadRun } from "./resume/load-run.ts";
import { reviewEarlierRun } from "./resume/review-earlier-run.ts";
import type { ImportDeps, ImportInput } from "./run/import-input.ts";
import type { ImportJob } from "./run/import-job.ts";
import { type ImportRun, importRun } from "./run/import-run.ts";
import type { ResumedRun } from "./run/resumed-run.ts";
import { batchesOfRun, sendRows } from "./send/send-rows.ts";

export interface ImportOutcome {
  check: CheckResult;
  /** Null when the file was rejected and nothing was sent. */
  ended: EndedRun | null;
}

/**
 * The bulk import: checks the complete file, claims the run (resuming an earlier one if it can), then imports the rows.
 *
 * Where a change belongs:
 *
 * | change                                     | here                                 | shared, in `flows/` |
 * | ------------------------------------------ | ------------------------------------ | ------------------- |
 * | columns, cells, local paths                | `columns/`                           |                     |
 * | encodings, delimiters, check of the rows   |                                      | `rows/`             |
 * | cutting batches, content of a batch        | `send/`                              |                     |
 * | idempotency keys, journal, resending       |                                      | `run/`              |
 * | resuming a run, batches with an unknown outcome | `resume/`                            | `run/`              |
 * | known products, decision about each row    | `ledger/`                            |                     |
 * | estimate, photo uploads                    | `plan/`                              | `photos/`           |
 * | changed fields (PATCH)                     | `fields/`                            |                     |
 * | reading results of the service             | `results/`                           | `run/`              |
 * | failed file and results file: rows in them | `close/`                             | `outputs/`          |
 * | failed file and results file: row contents | `outcomes/`, `close/written-rows.ts` | `outputs/`          |
 * | failed file: removing done photos of a row | `columns/` (`withoutDone`)           |                     |
 */
export async function importFile(input: ImportInput, deps: ImportDeps): Promise<ImportOutcome> {
  const started = deps.clock.now();
  const { check, refused } = await checkAndCollect(input.file, deps);
  await deps.onChecked?.(check);
  if (check.unusable || check.valid === 0 || (check.invalid > 0 && !input.skipInvalid)) {
    return { check, ended: null };
  }
  const targets = await deps.targets();
  const client = await deps.client();
  const patience = patienceOf("import", input.timeoutMs, deps);
  try {
    const { clock, newKey, random, writesPerMinute } = deps;
    const service = { client, clock, signal: patience.signal, newKey, concurrency: input.concurrency };
    const job = importJob(input, service, deps);
    const claimed = await claimImport(await deps.memory(), job, deps.runId);
    try {
      const resumed = await resume(claimed, job);
      const ended = await importRows(
        importRun({ ...job, random, writesPerMinute, targets, check, refused, resumed }),
      );
      ended.summary.duration_ms = Math.round(clock.now() - started);
      return { check, ended };
    } finally {
      claimed.hold.release();
    }
  } finally {
    patience.release();
  }
}

const importJob = (
  input: ImportInput,
  service: Service,
  { pid, ask, onProgress, onNote }: ImportDeps,
): ImportJob => ({
  input,
  service,
  pid,
  reporter: { onProgress, onNote: unrepeated(onNote) },
  decider: { ask, choice: once(input.unknown) },
});

/** Loads the progress of the run, or ends the earlier run and starts a new one. */
async function resume({ run, begun, fresh }: ClaimedImport, job: ImportJob): Promise<ResumedRun> {
  if (begun === null || (await reviewEarlierRun(begun, run, job)) === "resume") return loadRun(run);
  await endEarlierRun(begun, run, job);
  run.state.runs.begin(fresh);
  return loadRun({ ...run, id: fresh.id });
}

/**
 * Runs the stages. Each stage records its progress, so a run can be resumed after it ended at any point.
 * After a stage stopped, the later stages that write to the service are skipped; imports already sent are
 * still followed and reported.
 */
async function importRows(run: ImportRun): Promise<EndedRun> {
  const { input, service, resumed, rows, follower } = run;
  const preparing = await prepare(run);
  const sending = await after(preparing, [], () => sendRows(run, preparing.done));
  const changing = await after(sending, [], () => changeFields(run));
  const unfollowed = await follower.settled();
  run.progress.settled();
  const sent = batchesOfRun(resumed, sending);
  const changingFailed = await after(changing, new Map(), () => changeFieldsOfFailed(run, sent));
  const closed = await closeRun({
    ...run,
    sent,
    outsideBatches: [...rows.doneBefore(), ...changing.done, ...rows.reported],
    changedAgain: new Map([...rows.changedBefore(), ...changingFailed.done]),
    left: changingFailed.stopped === undefined ? null : rows.left(sent),
  });
  // After an interrupt, other steps fail with their own errors; the interrupt is the reason to report.
  const stopped: unknown = service.signal.aborted
    ? service.signal.reason
    : (changing.stopped ?? decisive(unfollowed, changingFailed.stopped, closed.stopped));
  return {
    ...closed,
    stopped,
    sent,
    changed: stopped === undefined ? null : await changeOf(input.file.source),
  };
}

/** Returns the value on the first call, and undefined from then on. */
function once<Value>(value: Value | undefined): () => Value | undefined {
  let left = value;
  return () => {
    const now = left;
    left = undefined;
    return now;
  };
}

/** Drops repeated notes: a plan that is made again finds the same things. */
function unrepeated(note: (sentence: string) => void): (sentence: string) => void {
  const noted = new Set<string>();
  return (sentence) => {
    if (!noted.has(sentence)) note(sentence);
    noted.add(sentence);
  };
}
