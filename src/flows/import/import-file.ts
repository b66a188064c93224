import { type CheckResult, checkFile } from "../rows/check.ts";
import { RowSet } from "../rows/row-set.ts";
import { changeOf } from "../rows/source.ts";
import { patienceOf } from "../runs/patience.ts";
import { after } from "../runs/stage.ts";
import { decisive } from "../service-errors.ts";
import { closeRun } from "./close/close-run.ts";
import type { EndedRun } from "./close/ended-run.ts";
import { changeFields, changeFieldsOfFailed } from "./fields/change-fields.ts";
import type { ImportDeps, ImportInput } from "./import-input.ts";
import { prepare } from "./plan/prepare.ts";
import { takeUpRun } from "./resume/take-up.ts";
import { type RunToBringIn, runToBringIn } from "./run-to-bring-in.ts";
import { callsOfRun, sendRows } from "./send/send-rows.ts";

export interface ImportOutcome {
  check: CheckResult;
  /** Null when the file was refused and nothing was sent. */
  ended: EndedRun | null;
}

/** The bulk import: check the whole file, take up the run if it was begun before, and bring its rows in. */
export async function importFile(input: ImportInput, deps: ImportDeps): Promise<ImportOutcome> {
  const started = deps.clock.now();
  const refused = new RowSet();
  const check = await checkInput(input, refused, deps);
  if (check.unusable || check.valid === 0 || (check.invalid > 0 && !input.skipInvalid)) {
    return { check, ended: null };
  }
  const targets = await deps.targets();
  const client = await deps.client();
  const patience = patienceOf(input.timeoutMs, deps);
  try {
    const { signal } = patience;
    const depsOfRun = {
      ...deps,
      client,
      signal,
      unknown: toldOnce(input.unknown),
      onNote: unrepeated(deps.onNote),
    };
    const taken = await takeUpRun(input, depsOfRun);
    try {
      const ended = await bringIn(runToBringIn({ input, deps: depsOfRun, targets, check, refused, taken }));
      ended.summary.duration_ms = Math.round(deps.clock.now() - started);
      return { check, ended };
    } finally {
      taken.release();
    }
  } finally {
    patience.release();
  }
}

const checkInput = (input: ImportInput, refused: RowSet, deps: ImportDeps): Promise<CheckResult> =>
  checkFile(input.file, {
    ...deps,
    onRefused: (row) => refused.add(row),
    onProgress: (done) => deps.onProgress({ step: "checking", done, total: null }),
  });

/**
 * The stages of a run, each of which is written down, so that it can be taken up after any end. One that is stopped leaves
 * out those after it that would write to the service; what was sent is followed and told all the same.
 */
async function bringIn(run: RunToBringIn): Promise<EndedRun> {
  const { input, deps, taken, rows, follower } = run;
  const preparing = await prepare(run);
  const sending = await after(preparing, [], () => sendRows(run, preparing.done));
  const changing = await after(sending, [], () => changeFields(run));
  const unfollowed = await follower.settled();
  run.progress.settled();
  const sent = callsOfRun(taken, sending);
  const changingFailed = await after(changing, new Map(), () => changeFieldsOfFailed(run, sent));
  const closed = await closeRun({
    ...run,
    sent,
    besideCalls: [...rows.doneBefore(), ...changing.done, ...rows.told],
    changedAgain: new Map([...rows.changedBefore(), ...changingFailed.done]),
    left: changingFailed.stopped === undefined ? null : rows.left(sent),
  });
  // An interrupt makes other things fail, each in its own words: it is the reason.
  const stopped: unknown = deps.signal.aborted
    ? deps.signal.reason
    : (changing.stopped ?? decisive(unfollowed, changingFailed.stopped, closed.stopped));
  return {
    ...closed,
    stopped,
    sent,
    changed: stopped === undefined ? null : await changeOf(input.file.source),
  };
}

/** Gives the value to who asks first, and undefined to who asks again. */
function toldOnce<Value>(value: Value | undefined): () => Value | undefined {
  let left = value;
  return () => {
    const now = left;
    left = undefined;
    return now;
  };
}

/** Passes a sentence on when it comes for the first time: a plan that is made anew meets the same things. */
function unrepeated(tell: (sentence: string) => void): (sentence: string) => void {
  const told = new Set<string>();
  return (sentence) => {
    if (!told.has(sentence)) tell(sentence);
    told.add(sentence);
  };
}
