import type { Import, ImportRowResult } from "../../contract/resources/import.ts";
import { CatError } from "../../errors.ts";
import type { CheckResult } from "./check.ts";
import { decisive, isOfCaller } from "./faults-of-service.ts";
import type { ImportInput, OutputTargets } from "./import-input.ts";
import type { Stretch } from "./in-order-of-lines.ts";
import { type RowMemo, unpackMemos } from "./ledger/call-memo.ts";
import { type ChangedAgain, type RowOutcome, rowOutcomes } from "./outcomes.ts";
import { Outputs } from "./outputs.ts";
import { forgetLostImages } from "./photos/forget-lost-images.ts";
import { lessRefused, photosOfMemo } from "./photos/refused-photos.ts";
import type { ReadCall } from "./results-ahead.ts";
import { settleCall } from "./resume/settle.ts";
import type { TakeUpDeps } from "./resume/take-up-deps.ts";
import type { TakenUp } from "./resume/taken-up.ts";
import type { RowSet } from "./row-set.ts";
import { type SomeRows, unchangedRows, unsentRows } from "./rows-beside-calls.ts";
import type { SentCall } from "./sent-call.ts";
import { beginSummary, countOutcome, type ImportSummary } from "./summary.ts";

export interface Run {
  input: ImportInput;
  deps: TakeUpDeps;
  targets: OutputTargets;
  check: CheckResult;
  /** Rows that the check refused, when the others were to be imported. */
  refused: RowSet;
  taken: Pick<TakenUp, "run" | "earlier">;
  sent: readonly SentCall[];
  /** What became of rows of which only fields were changed, by line. */
  patched: readonly RowOutcome[];
  changedAgain: ChangedAgain;
  /** Rows that would have changed nothing. */
  unchanged: RowSet;
  /** Rows of which nothing is known, as the run stopped before them; null where every row was brought in. */
  left: SomeRows | null;
  latest: (importId: string) => Import | undefined;
}

/** How a run ended. */
export interface ClosedRun {
  summary: ImportSummary;
  /** Why not all results could be read, or all rows be written down. */
  stopped: unknown;
  /** How many rows the results file has. */
  resultRows: number;
  /** The imports that have ended and whose results were not read. */
  unread: ReadonlySet<string>;
}

/**
 * The end of a run: what became of each row is read, counted, and written to the results file and the failed file, in
 * one walk in the order of the file. An error on the way does not take the summary with it.
 * After an interrupt nothing more is asked of the service, but what was never sent is still written down.
 */
export async function closeRun(run: Run): Promise<ClosedRun> {
  const { input, deps, check, sent, patched, latest } = run;
  const { client, signal } = deps;
  const { id, state } = run.taken.run;
  const head = { run_id: id, file: input.source.name, mode: input.mode };
  const unchanged = run.unchanged.size;
  const counts = { total: check.total, invalid: check.invalid, unchanged, patched: patched.length };
  const summary = beginSummary({ ...head, ...counts }, sent, latest);
  const outputs = new Outputs({ ...input, ...run.targets }, run.refused, id);
  let stopped: unknown;
  const unread = new Set<string>();
  const worthWriting = isOwed(run);
  const onFault = (error: unknown) => {
    stopped = decisive(stopped, error);
  };
  const outcomes = rowOutcomes(asked(run), besideCalls(run, worthWriting, onFault), {
    ...{ client, latest, signal, concurrency: input.concurrency, changedAgain: run.changedAgain },
    onResults: (call, results) => readResults(call, results, run),
    onUnread: (error, importId) => {
      onFault(error);
      unread.add(importId);
    },
  });
  let rows = 0;
  try {
    for await (const outcome of outcomes) {
      countOutcome(summary, outcome);
      if (worthWriting) await outputs.add(outcome);
      deps.onProgress({ step: "reading results", done: ++rows, total: check.valid });
    }
  } catch (error) {
    await outputs.discard();
    throw error;
  }
  const written = await outputs.close();
  const { faults } = outputs;
  const unwritten = faults.length > 0 ? { unwritten: faults.map(({ message }) => message) } : {};
  const rowsWritten = written.results_file === null ? {} : { results_rows: outputs.resultRows };
  const notRead = unread.size > 0 ? { unread: [...unread] } : {};
  // A run whose files could not be written goes on with them, and one that was not waited for with what it has to tell.
  const isTold = faults.length === 0 && (input.wait || sent.length === 0);
  if (run.left === null && isAllKnown(run) && isTold) state.runs.end(id, deps.clock.now());
  return {
    ...{
      summary: { ...summary, ...written, ...rowsWritten, ...notRead, ...unwritten },
      stopped: stopped ?? faults[0],
    },
    ...{ resultRows: outputs.resultRows, unread },
  };
}

/**
 * The calls of which something is told. What was refused for another reason than its rows (402) is sent anew by the same
 * command as it is; but what was piped in is nowhere else, a file that was asked for is written, and where other rows were
 * refused for what they are the failed file is what goes on.
 */
function asked({ input, sent, targets }: Run): readonly SentCall[] {
  const areTold = isOver(sent) || isWritten(input, targets);
  return sent.filter(
    (call) => (call.kind === "accepted" && input.wait) || (call.kind === "refused" && areTold),
  );
}

/** Whether rows were refused for what they are: then the same command would be refused again. */
const isOver = (sent: readonly SentCall[]): boolean =>
  sent.some((call) => call.kind === "refused" && isOfRows(call.error));

/** Whether rows that the same command sends are in the failed file as well. */
const isWritten = ({ source }: Pick<ImportInput, "source">, { failedFile }: OutputTargets): boolean =>
  source.path === null || failedFile.overwrite;

const isOfRows = ({ status = 0 }: CatError): boolean =>
  status === 400 || status === 413 || status === 415 || status === 422;

/** Whether nothing is left to learn about any row. */
const isAllKnown = ({ taken: { run } }: Run): boolean =>
  run.state.calls.of(run.id).every(({ state }) => state === "settled");

/** Takes results into the ledger as soon as they are read, and gives what is remembered of their rows. */
function readResults(call: ReadCall, results: readonly ImportRowResult[], run: Run): readonly RowMemo[] {
  const { state, account, id } = run.taken.run;
  const memos = unpackMemos(state.calls.memo(id, call.index));
  // What the ledger took in before may have been overtaken by what others did since.
  const wasSettled = run.taken.earlier.some(
    ({ index, state }) => index === call.index && state === "settled",
  );
  if (!wasSettled) settleCall(run.taken.run, { run: id, index: call.index }, results);
  forgetLostImages(state.uploads, account, results);
  return memos;
}

/**
 * Rows that went in no call. Those that are unchanged are told only where every row is asked for; those that are left only
 * where they were piped in, and so are nowhere else, a file was asked for, or rows were refused for what they are: else the
 * same command sends them.
 */
function besideCalls(
  run: Run,
  worthWriting: boolean,
  onFault: (error: unknown) => void,
): Stretch<RowOutcome>[] {
  const { input, targets, patched, unchanged, left, taken } = run;
  const stretches: Stretch<RowOutcome>[] = [];
  if (patched.length > 0) stretches.push({ first: 0, rows: () => each(patched) });
  if (!input.wait) stretches.push(...run.sent.flatMap((call) => refusedInCall(call, run)));
  if (unchanged.size > 0 && targets.resultsFile !== null) {
    stretches.push({
      first: 0,
      rows: () => untilChanged(unchangedRows(input, unchanged, taken.run), onFault),
    });
  }
  if (left !== null && worthWriting && (isOver(run.sent) || isWritten(input, targets))) {
    stretches.push({ first: 0, rows: () => untilChanged(unsentRows(input, left), onFault) });
  }
  return stretches;
}

/** Rows of a call that nobody waits for, of which it is known already that photos were refused. */
function refusedInCall(call: SentCall, { taken: { run } }: Run): Stretch<RowOutcome>[] {
  if (call.kind !== "accepted") return [];
  const { state, id } = run;
  const memos = unpackMemos(state.calls.memo(id, call.index));
  if (memos.every(({ refused }) => refused.length === 0)) return [];
  // Let go of where another run has read the results, of which nothing was told for this one.
  const references = state.calls.references(id, call.index);
  const outcomes = memos.flatMap((memo, at): RowOutcome[] => {
    if (memo.refused.length === 0) return [];
    const row = { reference: references[at] ?? "", productId: null, action: null };
    return [lessRefused(call.lines[at]!, row, photosOfMemo(memo))];
  });
  return [{ first: call.lines[0]!, rows: () => each(outcomes) }];
}

/** The rows up to where the file turns out to be another one by now, which must not take the summary with it. */
async function* untilChanged(
  rows: AsyncGenerator<RowOutcome>,
  onFault: (error: unknown) => void,
): AsyncGenerator<RowOutcome> {
  try {
    yield* rows;
  } catch (error) {
    if (!(error instanceof CatError)) throw error;
    onFault(error);
  }
}

async function* each(outcomes: readonly RowOutcome[]): AsyncGenerator<RowOutcome> {
  yield* [...outcomes].sort((one, other) => one.line - other.line);
}

/**
 * Whether the user is to have a failed file. Not when the key was refused before anything was taken up: then the input
 * itself is what is to be imported again. But what was piped in is nowhere else, and a file that was asked for is written.
 */
const isOwed = (run: Run): boolean => !wasNotLetIn(run) || isWritten(run.input, run.targets);

/** Whether the key was refused before anything was taken up. */
const wasNotLetIn = ({ check, sent }: Run): boolean =>
  check.invalid === 0 &&
  sent.some((call) => call.kind === "refused") &&
  sent.every((call) => call.kind === "unsent" || (call.kind === "refused" && isOfCaller(call.error)));
