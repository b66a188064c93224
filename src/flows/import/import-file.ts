import type { CheckResult } from "../rows/check.ts";
import { checkFile } from "../rows/check.ts";
import { RowSet } from "../rows/row-set.ts";
import { changeOf } from "../rows/source.ts";
import { patienceOf } from "../runs/patience.ts";
import { after } from "../runs/stage.ts";
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
import type { TakenUp } from "./run/taken-up.ts";
import { batchesOfRun, sendRows } from "./send/send-rows.ts";

export interface ImportOutcome {
  check: CheckResult;
  /** Null when the file was rejected and nothing was sent. */
  ended: EndedRun | null;
}

/**
 * The bulk import. The whole file is checked first; then the run is claimed, resumed where it was begun before, and its rows
 * are imported.
 *
 * Where things belong: how files are read and rows judged is in `flows/rows`, which columns an import has in `columns/`; how
 * batches are written down, sent once and sent again is in `flows/batches`, what an import's batch contains in `send/`, which
 * run is resumed in `resume/` and `flows/runs`; the failed file and the results file are in `flows/outputs`, what they say of a
 * row in `outcomes/`, which parts of a row are left out of the failed file in `columns/`. What is known of the service is in
 * `ledger/`, what each row needs in `plan/`, PATCH in `fields/`, results of the service in `results/`, the end in `close/`.
 */
export async function importFile(input: ImportInput, deps: ImportDeps): Promise<ImportOutcome> {
  const started = deps.clock.now();
  const refused = new RowSet();
  const check = await checkFile(input.file, {
    random: deps.random,
    signal: deps.signal,
    onProblem: deps.onProblem,
    onRefused: (row) => refused.add(row),
    onProgress: (done) => deps.onProgress({ step: "checking", done, total: null }),
  });
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
      const taken = await resume(claimed, job);
      const ended = await importRows(
        importRun({ ...job, random, writesPerMinute, targets, check, refused, taken }),
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
  doubts: { ask, choice: once(input.unknown) },
});

/** Loads what was begun of the run before, or ends it and begins a new one. */
async function resume({ run, begun, fresh }: ClaimedImport, job: ImportJob): Promise<TakenUp> {
  if (begun === null || (await reviewEarlierRun(begun, run, job)) === "resume") return loadRun(run, job);
  await endEarlierRun(begun, run, job);
  run.state.runs.begin(fresh);
  return loadRun({ ...run, id: fresh.id }, job);
}

/**
 * The stages of a run, each of which is written down, so that it can be resumed after any end. One that is stopped skips those
 * after it that would write to the service; what was sent is followed and reported all the same.
 */
async function importRows(run: ImportRun): Promise<EndedRun> {
  const { input, service, taken, rows, follower } = run;
  const preparing = await prepare(run);
  const sending = await after(preparing, [], () => sendRows(run, preparing.done));
  const changing = await after(sending, [], () => changeFields(run));
  const unfollowed = await follower.settled();
  run.progress.settled();
  const sent = batchesOfRun(taken, sending);
  const changingFailed = await after(changing, new Map(), () => changeFieldsOfFailed(run, sent));
  const closed = await closeRun({
    ...run,
    sent,
    besideBatches: [...rows.doneBefore(), ...changing.done, ...rows.told],
    changedAgain: new Map([...rows.changedBefore(), ...changingFailed.done]),
    left: changingFailed.stopped === undefined ? null : rows.left(sent),
  });
  // An interrupt makes other things fail, each in its own words: it is the reason.
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

/** Gives the value to who asks first, and undefined from then on. */
function once<Value>(value: Value | undefined): () => Value | undefined {
  let left = value;
  return () => {
    const now = left;
    left = undefined;
    return now;
  };
}

/** Passes a sentence on when it comes for the first time: a plan that is made again meets the same things. */
function unrepeated(note: (sentence: string) => void): (sentence: string) => void {
  const noted = new Set<string>();
  return (sentence) => {
    if (!noted.has(sentence)) note(sentence);
    noted.add(sentence);
  };
}
