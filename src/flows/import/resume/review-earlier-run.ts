// Resuming: claims the run, loads its progress, and handles unknown outcomes and rows that other runs have in
// flight.

import type { Import } from "../../../contract/resources/import.ts";
import type { StoredBatch } from "../../../state/batches.ts";
import type { Run } from "../../../state/runs.ts";
import { RowSet } from "../../rows/row-set.ts";
import { shownName } from "../../rows/shown-name.ts";
import { isKeyAlive, readClocks, shownTime } from "../../run/clocks.ts";
import type { RunAtHand } from "../../run/run.ts";
import type { Service } from "../../service.ts";
import { orNull } from "../../service-errors.ts";
import { counted } from "../../words.ts";
import { isEnded } from "../results/follow-imports.ts";
import type { ImportInput } from "../run/import-input.ts";
import type { ImportJob } from "../run/import-job.ts";
import { resolveUnknownOutcomes, type UnknownBatch } from "./unknown-outcomes.ts";

/**
 * Reviews an open run: the user decides about its unknown outcomes. Returns whether it is resumed, or ended
 * first because its rows are compared again (or with `--fresh`). Throws a CatError of type conflict if a
 * choice is missing.
 */
export async function reviewEarlierRun(
  begun: Run,
  run: RunAtHand,
  job: ImportJob,
): Promise<"resume" | "end first"> {
  const { input, reporter } = job;
  const isDone = await settleUnknownOutcomes(begun, run, job);
  if (input.fresh) return "end first";
  const name = shownName(input.file.source.name);
  const at = shownTime(begun.startedAt);
  const why = reasonToCompareAgain(run, isDone, input);
  if (why !== null) {
    reporter.onNote(`The import of ${name} started at ${at} ${why}. Comparing its rows again.`);
    return "end first";
  }
  if (hasSentAnything(run)) {
    const sent = counted(sentRows(run), "row");
    reporter.onNote(
      `Resuming the import of ${name} started at ${at}: ${sent} already sent. To start over, add --fresh.`,
    );
  }
  return "resume";
}

/**
 * The reason to compare the rows of an open run again: its products may have changed since. Null to just
 * resume it. The ledger prevents photos from being added twice.
 */
function reasonToCompareAgain(
  run: RunAtHand,
  isDone: boolean,
  { mode, photos, wait }: ImportInput,
): string | null {
  if (mode !== "upsert" || photos !== "new" || !hasSentAnything(run)) return null;
  const last = run.state.runs.lastWriter(run.account);
  if (last !== null && last !== run.id) return "did not finish, and another import has run since";
  // With --no-wait the run would never end, and a file imported every night would never be sent again.
  return !wait && isDone ? "has finished at the service" : null;
}

/** Whether the run has sent anything. */
const hasSentAnything = ({ state, id }: RunAtHand): boolean =>
  state.batches.of(id).length > 0 || state.batches.doneRows(id).length > 0;

/**
 * Lets the user decide about batches of the run with an unknown outcome. Returns whether the service has
 * finished everything that was sent.
 */
async function settleUnknownOutcomes(begun: Run, run: RunAtHand, job: ImportJob): Promise<boolean> {
  const { input, service } = job;
  const unknownBatches: UnknownBatch[] = [];
  let isDone = true;
  for (const batch of run.state.batches.of(begun.id)) {
    // Only an upsert sent twice adds its photos twice (Imports, rule 3).
    const mayDouble = batch.state === "sent" && input.mode === "upsert";
    const isTooOld = mayDouble && !isKeyAlive(batch, await readClocks(service));
    const made = batch.state === "accepted" ? await importOf(batch, service) : undefined;
    if (isTooOld || made === null) unknownBatches.push({ run: begun, batch });
    isDone &&= batch.state === "settled" || (made !== null && made !== undefined && isEnded(made));
  }
  await resolveUnknownOutcomes(unknownBatches, run, job);
  return isDone;
}

/** The import of a batch; null if the service does not know it. */
const importOf = ({ jobs }: StoredBatch, { client, signal }: Service): Promise<Import | null> =>
  orNull(client.imports.get({ import_id: jobs[0]! }, { signal }));

/** Number of rows that the service is known to have received. */
function sentRows({ state, id }: RunAtHand): number {
  const sent = new RowSet();
  for (const batch of state.batches.of(id)) {
    if (batch.state !== "sent") for (const row of batch.rows) sent.add(row);
  }
  for (const { row } of state.batches.doneRows(id)) sent.add(row);
  return sent.size;
}
