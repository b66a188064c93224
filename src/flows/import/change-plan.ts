// A plan: what an import would change at the service, found out by reading alone.

import { limits } from "../../contract/limits.ts";
import { CatError } from "../../errors.ts";
import { type CheckResult, isRejected } from "../rows/check.ts";
import type { FileNote } from "../rows/notes.ts";
import { type Run, withoutBeginning } from "../run/run.ts";
import { aboutTime } from "../run/writes.ts";
import { counted, grouped, shownName } from "../words.ts";
import type { LedgerField } from "./digests.ts";
import { reasonToCompareAgain, unsettled } from "./earlier-runs.ts";
import { confirmLikeExisting, fieldsText } from "./guards.ts";
import { checkFiles, toRequest } from "./import-file.ts";
import type { FileToImport } from "./import-input.ts";
import { type ImportRun, importRun } from "./import-run.ts";
import { type PlannedRow, plannedRow } from "./plan.ts";
import { makePlan } from "./prepare.ts";
import { cutBatches } from "./send.ts";
import type { SharedCounts } from "./summary.ts";

/** The counts of a plan: of rows by what is done with them, besides those that it shares with a summary. */
export interface PlanSummary extends SharedCounts {
  readonly total: number;
  readonly invalid: number;
  readonly create: number;
  readonly change: number;
  readonly add_photos: number;
  readonly unchanged: number;
  readonly skip: number;
  readonly fail: number;
  /** How many rows change each field. */
  readonly fields: Record<LedgerField, number>;
  /** What may be a mistake in the file, and is read as it is; missing if there is nothing. */
  readonly notes?: readonly FileNote[];
  /** The requests that the import sends, and the photos that it uploads before. */
  readonly requests: number;
  readonly uploads: number;
}

/** A plan of a file that passed the check, and the number of photos that the products of the file have. */
export interface ChangePlan {
  readonly summary: PlanSummary;
  readonly ownPhotos: number;
}

/** Plans an import by GETs alone; null if the check rejects the file. Throws if one is unfinished. */
export async function planFile(
  file: FileToImport,
  onBegin: (identity: string, run: Run) => Promise<void>,
  onRow: (row: PlannedRow) => Promise<void>,
): Promise<{ check: CheckResult; plan: ChangePlan | null }> {
  const { input, deps } = file;
  const [checked] = await checkFiles([file]);
  const { check } = checked!;
  if (isRejected(check, input)) return { check, plan: null };
  const request = await toRequest(checked!);
  const isResumed = (begun: Run) => !input.fresh && reasonToCompareAgain(begun, new Map(), input) === null;
  const plan = await withoutBeginning(request, isResumed, deps, async (at) => {
    rejectUnsettled(at);
    await onBegin(request.identity, at);
    return planChanges(importRun(at, checked!, true), onRow);
  });
  return { check, plan };
}

/** What an earlier import has left would be settled first, which may send batches again. */
function rejectUnsettled(at: Run): void {
  const [first] = unsettled(at);
  if (first === undefined) return;
  const file = shownName(first.run.file);
  throw new CatError(`an earlier import of ${file} is unfinished; its rows have no results yet`, {
    type: "conflict",
    code: "import_unfinished",
    hint: `Import ${file} again with the same flags to finish it, then plan again.`,
  });
}

/** Reads the products of the rows, and reports what the import does with each row. */
async function planChanges(run: ImportRun, onRow: (row: PlannedRow) => Promise<void>): Promise<ChangePlan> {
  const { total, invalid } = run.check;
  const plan = await makePlan(run);
  await confirmLikeExisting(plan, run);
  const { notes } = run.check;
  const { fields, photos, kept, conflicts, deleted, not_applied, known_failures, ownPhotos } = plan;
  const actions = { create: 0, change: 0, add_photos: 0, unchanged: 0, skip: 0, fail: 0 };
  for await (const row of run.rows.decided()) {
    const planned = plannedRow(row, run.input);
    const { action } = planned;
    if (action !== "kept" && action !== "deleted" && action !== "conflict") actions[action]++;
    await onRow(planned);
  }
  const requests = plan.writes + (await countBatches(run, plan.localPhotos.keys()));
  const shared = { kept, conflicts, deleted, photos, not_applied, known_failures };
  const uploads = plan.uploads.count;
  const counts = { total, invalid, ...actions, fields, ...shared, requests, uploads };
  return { summary: notes === undefined ? counts : { ...counts, notes }, ownPhotos };
}

/** An image ID of the length that the service gives to uploads: batches are cut by their bytes. */
const anyImage = { image: "0".repeat(26) };

/** The number of batches, cut as for sending. */
async function countBatches(run: ImportRun, photos: Iterable<string>): Promise<number> {
  for (const sha256 of photos) run.uploads.set(sha256, anyImage);
  let batches = 0;
  for await (const _ of cutBatches(run)) batches++;
  return batches;
}

/** The plan in one line, e.g. `Plan: 12 to create, 184 unchanged; 1 request, about 1 min.` */
export function planLine(summary: PlanSummary): string {
  const { create, change, unchanged, skip, fail, photos, requests, uploads, invalid, fields } = summary;
  const { kept, deleted, conflicts } = summary;
  const changed = fieldsText(fields);
  const parts = [
    create > 0 && `${grouped(create)} to create`,
    change > 0 && `${grouped(change)} to change${changed === "" ? "" : ` (${changed})`}`,
    photos.added > 0 && `${counted(photos.added, "photo")} to add`,
    photos.replaced > 0 && `${counted(photos.replaced, "photo")} to replace`,
    photos.removed > 0 && `${counted(photos.removed, "photo")} to remove`,
    photos.moved > 0 && `${counted(photos.moved, "photo")} to move`,
    skip > 0 && `${grouped(skip)} to skip`,
    fail > 0 && `${grouped(fail)} to fail`,
    conflicts > 0 && counted(conflicts, "conflict"),
    kept > 0 && `${grouped(kept)} kept`,
    deleted > 0 && `${grouped(deleted)} deleted`,
    unchanged > 0 && `${grouped(unchanged)} unchanged`,
    invalid > 0 && `${grouped(invalid)} invalid`,
  ].filter((part) => part !== false);
  const writes = [
    requests > 0 && counted(requests, "request"),
    uploads > 0 && counted(uploads, "upload"),
    requests + uploads > 0 && aboutTime(requests + uploads, limits.writesPerMinute),
  ].filter((part) => part !== false);
  const rows = parts.length === 0 ? "no rows" : parts.join(", ");
  return `Plan: ${rows}; ${writes.length === 0 ? "nothing to send" : writes.join(", ")}.`;
}
