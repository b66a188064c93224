// Earlier runs: what they left is settled before a new import begins, and the run of the same file is resumed.

import pLimit from "p-limit";
import type { Import } from "../../contract/resources/imports.ts";
import { CatError } from "../../errors.ts";
import type { StoredBatch } from "../../state/batches.ts";
import type { Run as StoredRun } from "../../state/runs.ts";
import { isWithin } from "../rows/open-rows.ts";
import { RowSet } from "../rows/row-sets.ts";
import { rowsIn } from "../run/batch.ts";
import { isKeyAlive, readClocks, shownTime } from "../run/clocks.ts";
import { type Run, sentBeyond } from "../run/run.ts";
import { isKeyTaken, orNull } from "../service-errors.ts";
import { counted, shownName } from "../words.ts";
import { isEnded } from "./follow.ts";
import { type ImportDeps, type ImportInput, importKind } from "./import-input.ts";
import { addsTwice, createSendAgain, noteRepeated } from "./send.ts";
import { settleBatches } from "./settle.ts";
import { decideUnknownOutcomes, type EarlierBatch, unknownOutcomeText } from "./unknown-outcomes.ts";

/**
 * Whether the open run of this file ends and a new one begins, because its rows are compared again (or with
 * `--fresh`): then everything that it sent is settled. Throws a CatError of type conflict if the user has to choose,
 * or of type usage if rows beyond the limit were sent.
 */
export async function isReplaced(begun: Run, input: ImportInput, deps: ImportDeps): Promise<boolean> {
  const { file, fresh } = input;
  if (!fresh && writtenRows(begun).some((row) => !isWithin(file, row)))
    throw sentBeyond(file.limit!, file.source.name);
  const openBatches = () => unsettled(begun).filter(({ run }) => run.id === begun.id);
  const imports = await decide(openBatches(), begun, input, deps);
  if (isToBeResumed(begun, imports, input, deps)) return false;
  await settleAll(openBatches(), begun, deps);
  return true;
}

/**
 * Settles every batch that runs of other files left: one without a response is sent again, with its key, and the
 * results of each are written to the ledger. Throws a CatError of type conflict if the user has to choose.
 */
export async function settleOtherRuns(at: Run, input: ImportInput, deps: ImportDeps): Promise<void> {
  const openBatches = () => unsettled(at).filter(({ run }) => run.id !== at.id);
  await decide(openBatches(), at, input, deps);
  await settleAll(openBatches(), at, deps);
}

export const unsettled = ({ state, account }: Run): EarlierBatch[] =>
  state.batches.unsettledElsewhere({ account, kind: importKind, runId: "" });

/**
 * Lets the user decide about batches whose outcome cannot be determined any more. Returns the imports of the
 * accepted ones, by ID; null if the service does not know them.
 */
async function decide(
  batches: readonly EarlierBatch[],
  at: Run,
  input: ImportInput,
  deps: ImportDeps,
): Promise<Map<string, Import | null>> {
  const imports = await readImports(batches, at);
  const mayDouble = ({ run, batch }: EarlierBatch) => batch.state === "sent" && addsTwice(run.options.mode);
  const now = batches.some(mayDouble) ? await readClocks(at) : null;
  const isUnknown = (batch: EarlierBatch) =>
    batch.batch.state === "accepted"
      ? imports.get(batch.batch.jobs[0]!) === null
      : now !== null &&
        mayDouble(batch) &&
        (!isKeyAlive(batch.batch, now) || (batch.batch.isKeyTaken && input.unknown !== undefined));
  await decideUnknownOutcomes(batches.filter(isUnknown), at, input, deps);
  return imports;
}

async function settleAll(batches: readonly EarlierBatch[], at: Run, deps: ImportDeps): Promise<void> {
  const runs = new Map(batches.map(({ run }) => [run.id, run]));
  for (const run of runs.values()) await settleRun(run, at, deps);
}

async function settleRun(run: StoredRun, at: Run, { onProgress, onNote }: ImportDeps): Promise<void> {
  const batches = (state: StoredBatch["state"]) =>
    at.state.batches.of(run.id).filter((batch) => batch.state === state);
  await noteRepeated(batches("sent"), { at, mode: run.options.mode, deps: { onNote } });
  if (batches("sent").length > 0)
    await createSendAgain(run, batches("sent"), at).catch((error: unknown) => {
      throw isKeyTaken(error) ? undecidedError(batches("sent"), run, error) : error;
    });
  const step = `waiting for the import of ${shownName(run.file)}`;
  await settleBatches(batches("accepted"), at, (done, total) => onProgress({ step, done, total }));
}

/** The error for rows of another file that sending again does not decide: this file is fine. */
const undecidedError = (batches: readonly StoredBatch[], { file }: StoredRun, cause: unknown): CatError =>
  new CatError(
    `${unknownOutcomeText({ file: shownName(file), rows: rowsIn(batches), lost: [] }, shownTime(Math.min(...batches.map(({ sentAt }) => sentAt))))}, and the service has had their idempotency key with another body`,
    {
      type: "conflict",
      code: "unknown_outcome",
      hint: "Check a few of their products, then add --unknown imported, not-imported or resend (see --help).",
      cause,
    },
  );

async function readImports(
  batches: readonly EarlierBatch[],
  { client, signal, concurrency }: Run,
): Promise<Map<string, Import | null>> {
  const limit = pLimit(concurrency);
  const imports = new Map<string, Import | null>();
  const ask = async (import_id: string) =>
    void imports.set(import_id, await orNull(client.imports.get({ import_id }, { signal })));
  const ids = batches.flatMap(({ batch: { state, jobs } }) => (state === "accepted" ? jobs : []));
  await Promise.all(ids.map((id) => limit(ask, id)));
  return imports;
}

/** Whether the open run of this file is resumed; a note says so, or why it is not. */
function isToBeResumed(
  at: Run,
  imports: ReadonlyMap<string, Import | null>,
  input: ImportInput,
  { onNote }: ImportDeps,
): boolean {
  if (input.fresh) return false;
  const name = shownName(input.file.source.name);
  const time = shownTime(at.begunAt!);
  // A plan is compared with the products in any case.
  const why = input.applies === undefined ? reasonToCompareAgain(at, imports, input) : null;
  if (why !== null) {
    onNote(`The import of ${name} started at ${time} ${why}. Comparing its rows again.`);
    return false;
  }
  if (hasSentAnything(at)) {
    const sent = counted(sentRows(at), "row");
    const startOver = input.applies === undefined ? " To start over, add --fresh." : "";
    onNote(`Resuming the import of ${name} started at ${time}: ${sent} already sent.${startOver}`);
  }
  return true;
}

/**
 * The reason to compare the rows of an open run again: its products may have changed since. Null to just
 * resume it. The ledger prevents photos from being added twice.
 */
export function reasonToCompareAgain(
  at: Run,
  imports: ReadonlyMap<string, Import | null>,
  { mode, photos, wait }: ImportInput,
): string | null {
  if (mode !== "upsert" || photos !== "new" || !hasSentAnything(at)) return null;
  const { runs, batches } = at.state;
  const last = runs.lastWriter(at.account);
  if (last !== null && last !== at.id) return "did not finish, and another import has run since";
  const isDone = batches.of(at.id).every(({ state, jobs }) => {
    const job = imports.get(jobs[0] ?? "");
    return state === "settled" || (job !== undefined && job !== null && isEnded(job));
  });
  // With --no-wait the run would never end, and a file imported every night would never be sent again.
  return !wait && isDone ? "has finished at the service" : null;
}

/** The rows that the run has sent, or may have. */
const writtenRows = ({ state: { batches }, id }: Run): number[] => [
  ...batches.of(id).flatMap(({ rows }) => [...rows]),
  ...batches.doneRows(id).map(({ rowIndex }) => rowIndex),
  ...batches.patchingRows(id),
];

/** Whether the run has sent anything. */
const hasSentAnything = ({ state: { batches }, id }: Run): boolean =>
  batches.of(id).length > 0 || batches.doneRows(id).length > 0;

/** Number of rows that the service is known to have received. */
function sentRows({ state: { batches }, id }: Run): number {
  const sent = new RowSet();
  for (const batch of batches.of(id)) {
    if (batch.state !== "sent") for (const row of batch.rows) sent.add(row);
  }
  for (const { rowIndex } of batches.doneRows(id)) sent.add(rowIndex);
  return sent.size;
}
