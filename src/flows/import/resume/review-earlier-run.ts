// Resuming: claiming the run, what was begun of it, batches of unknown outcome, and rows that other runs have in flight.

import type { Import } from "../../../contract/resources/import.ts";
import type { StoredBatch } from "../../../state/batches.ts";
import type { Run } from "../../../state/runs.ts";
import { isKeyAlive, readClocks } from "../../batches/key-life.ts";
import { grouped } from "../../grouped.ts";
import { RowSet } from "../../rows/row-set.ts";
import { shownName } from "../../rows/shown-name.ts";
import type { RunAtHand } from "../../runs/run-at-hand.ts";
import { shownTime } from "../../runs/shown-time.ts";
import type { Service } from "../../service.ts";
import { orNull } from "../../service-errors.ts";
import { isEnded } from "../results/follow-imports.ts";
import type { ImportInput } from "../run/import-input.ts";
import type { ImportJob } from "../run/import-job.ts";
import { type DoubtfulBatch, resolveDoubt } from "./doubtful-batches.ts";

/**
 * Makes sure of a run that was begun before: nothing of it is left in doubt that the user has not decided. Gives whether it is
 * resumed, or first brought to its end because its rows are to be compared again (or with `--fresh`). Throws a CatError of
 * type conflict when a choice is missing.
 */
export async function reviewEarlierRun(
  begun: Run,
  run: RunAtHand,
  job: ImportJob,
): Promise<"resume" | "end first"> {
  const { input, reporter } = job;
  const isDone = await makeSure(begun, run, job);
  if (input.fresh) return "end first";
  const name = shownName(input.file.source.name);
  const at = shownTime(begun.startedAt);
  const why = whyAgain(run, isDone, input);
  if (why !== null) {
    reporter.onNote(`The import of ${name} started at ${at} ${why}: its rows are compared again.`);
    return "end first";
  }
  if (isBegun(run)) {
    const sent = sentRows(run);
    reporter.onNote(
      `Resuming the import of ${name} started at ${at}: ${grouped(sent)} ${sent === 1 ? "row" : "rows"} already sent. To start over, add --fresh.`,
    );
  }
  return "resume";
}

/**
 * Why the rows of an open run are compared again, because what it brought may have been changed since; null where it is just
 * resumed. The ledger keeps their photos from being added twice.
 */
function whyAgain(run: RunAtHand, isDone: boolean, { mode, photos, wait }: ImportInput): string | null {
  if (mode !== "upsert" || photos !== "new" || !isBegun(run)) return null;
  const last = run.state.runs.lastWriter(run.account);
  if (last !== null && last !== run.id) return "had not ended, and another import has run since";
  // With --no-wait its end would never be noticed, and nothing more be imported of a file that is given every night.
  return !wait && isDone ? "is done at the service" : null;
}

/** Whether anything of a run was sent. */
const isBegun = ({ state, id }: RunAtHand): boolean =>
  state.batches.of(id).length > 0 || state.batches.doneRows(id).length > 0;

/**
 * Has the user decide about batches of the run whose outcome nothing can tell any more. Gives whether the service has done all
 * that was sent.
 */
async function makeSure(begun: Run, run: RunAtHand, job: ImportJob): Promise<boolean> {
  const { input, service } = job;
  const doubtful: DoubtfulBatch[] = [];
  let isDone = true;
  for (const batch of run.state.batches.of(begun.id)) {
    // Only an upsert sent twice adds its photos twice (Imports, rule 3).
    const mayDouble = batch.state === "sent" && input.mode === "upsert";
    const isTooOld = mayDouble && !isKeyAlive(batch, await readClocks(service));
    const made = batch.state === "accepted" ? await importOf(batch, service) : undefined;
    if (isTooOld || made === null) doubtful.push({ run: begun, batch });
    isDone &&= batch.state === "settled" || (made !== null && made !== undefined && isEnded(made));
  }
  await resolveDoubt(doubtful, run, job);
  return isDone;
}

/** The import of a batch; null where the service does not know it. */
const importOf = ({ jobs }: StoredBatch, { client, signal }: Service): Promise<Import | null> =>
  orNull(client.imports.get({ import_id: jobs[0]! }, { signal }));

/** How many rows of a run the service is known to have. */
function sentRows({ state, id }: RunAtHand): number {
  const sent = new RowSet();
  for (const batch of state.batches.of(id)) {
    if (batch.state !== "sent") for (const row of batch.rows) sent.add(row);
  }
  for (const { row } of state.batches.doneRows(id)) sent.add(row);
  return sent.size;
}
