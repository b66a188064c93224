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
import { confirmLikeExisting, fieldsText, rowsRejection } from "./guards.ts";
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
  /** Possible mistakes in the file, read as they are; missing if there is nothing. */
  readonly notes?: readonly FileNote[];
  /** The requests that the import sends, and the photos that it uploads before. */
  readonly requests: number;
  readonly uploads: number;
}

/** A plan of a file that passed the check. */
export interface ChangePlan {
  readonly summary: PlanSummary;
  /** The number of photos that the products of the file have. */
  readonly ownPhotos: number;
  /** Why the import of the file would send nothing; null if it would. */
  readonly rejection: CatError | null;
}

/**
 * Plans an import by GETs alone: `onBegin` gets its identity, then `onRow` each row in file order. Null if
 * the check rejects the file. Throws a CatError of type conflict while an earlier import is unfinished.
 */
export async function planFile(
  file: FileToImport,
  onBegin: (identity: string, run: Run) => Promise<void>,
  onRow: (row: PlannedRow) => Promise<void>,
): Promise<{ check: CheckResult; plan: ChangePlan | null }> {
  const { input, host } = file;
  const [checked] = await checkFiles([file]);
  const { check } = checked!;
  if (isRejected(check, input)) return { check, plan: null };
  const request = await toRequest(checked!);
  const isResumed = (begun: Run) => !input.fresh && reasonToCompareAgain(begun, new Map(), input) === null;
  const plan = await withoutBeginning(request, isResumed, host, async (at) => {
    rejectUnsettled(at);
    await onBegin(request.identity, at);
    return planChanges(importRun(at, checked!, true), onRow);
  });
  return { check, plan };
}

/** Remains of an earlier import would be settled first, which may send batches again. */
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
  const summary = notes === undefined ? counts : { ...counts, notes };
  return { summary, ownPhotos, rejection: rowsRejection(plan, run) };
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
  const { photos, requests, uploads } = summary;
  const changed = fieldsText(summary.fields);
  const rows = (name: "create" | "skip" | "fail") =>
    [summary[name], `${grouped(summary[name])} to ${name}`] as const;
  const left = (name: "kept" | "deleted" | "unchanged" | "invalid") =>
    [summary[name], `${grouped(summary[name])} ${name}`] as const;
  const ofPhotos = (count: number, verb: string) => [count, `${counted(count, "photo")} to ${verb}`] as const;
  const parts = [
    rows("create"),
    [summary.change, `${grouped(summary.change)} to change${changed === "" ? "" : ` (${changed})`}`],
    ofPhotos(photos.added, "add"),
    ofPhotos(photos.replaced, "replace"),
    ofPhotos(photos.removed, "remove"),
    ofPhotos(photos.moved, "move"),
    rows("skip"),
    rows("fail"),
    [summary.conflicts, counted(summary.conflicts, "conflict")],
    left("kept"),
    left("deleted"),
    left("unchanged"),
    left("invalid"),
  ] as const;
  const writes = [
    [requests, counted(requests, "request")],
    [uploads, counted(uploads, "upload")],
    [requests + uploads, aboutTime(requests + uploads, limits.writesPerMinute)],
  ] as const;
  const shown = (some: readonly (readonly [count: number, text: string])[], none: string) =>
    some.flatMap(([count, text]) => (count > 0 ? text : [])).join(", ") || none;
  return `Plan: ${shown(parts, "no rows")}; ${shown(writes, "nothing to send")}.`;
}
