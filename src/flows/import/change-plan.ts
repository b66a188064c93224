// A plan: what an import would change at the service, found out by reading alone.

import { limits } from "../../contract/limits.ts";
import { CatError } from "../../errors.ts";
import { type CheckResult, isRejected } from "../rows/check.ts";
import { type Run, withoutBeginning } from "../run/run.ts";
import { aboutTime } from "../run/writes.ts";
import { counted, grouped, shownName } from "../words.ts";
import type { LedgerField } from "./digests.ts";
import { reasonToCompareAgain, unsettled } from "./earlier-runs.ts";
import { fieldsText } from "./guards.ts";
import { checkFiles, type FileToImport, toRequest } from "./import-file.ts";
import { type ImportRun, importRun } from "./import-run.ts";
import { type PlannedRow, plannedRow } from "./planned-row.ts";
import { makePlan } from "./prepare.ts";
import { cutBatches } from "./send.ts";
import type { SharedCounts } from "./summary.ts";

/** The counts of a plan. */
export interface PlanSummary extends SharedCounts, Record<CountedAction, number> {
  readonly total: number;
  readonly invalid: number;
  /** How many rows change each field. */
  readonly fields: Record<LedgerField, number>;
  /** The requests that the import sends, and the photos that it uploads before. */
  readonly requests: number;
  readonly uploads: number;
}

/** The actions that a plan counts by their names; the others are among the counts that it shares with a summary. */
const countedActions = ["create", "change", "add_photos", "unchanged", "skip", "fail"] as const;
type CountedAction = (typeof countedActions)[number];

/** A plan of a file that passed the check. */
export interface ChangePlan {
  /** The ID of the run that carries it out. */
  readonly id: string;
  readonly identity: string;
  readonly summary: PlanSummary;
  /** The photos that the products of the file have. */
  readonly ownPhotos: number;
}

/**
 * Plans the import of a file; sends nothing but GETs. `onBegin` receives what the plan is of, then `onRow` each row, in file
 * order. The plan is null if the check rejects the file. Throws a CatError of type conflict while an earlier import is unfinished.
 */
export async function planFile(
  file: FileToImport,
  onBegin: (plan: Pick<ChangePlan, "id" | "identity">, run: Run) => Promise<void>,
  onRow: (row: PlannedRow) => Promise<void>,
): Promise<{ check: CheckResult; plan: ChangePlan | null }> {
  const { input, deps } = file;
  const [checked] = await checkFiles([file]);
  const { check, refused } = checked!;
  if (isRejected(check, input)) return { check, plan: null };
  const request = await toRequest(checked!);
  const { identity } = request;
  const isResumed = (begun: Run) => !input.fresh && reasonToCompareAgain(begun, new Map(), input) === null;
  const plan = await withoutBeginning(request, isResumed, deps, async (at) => {
    rejectUnsettled(at);
    await onBegin({ id: deps.runId, identity }, at);
    const run = importRun(at, noTargets, check, refused, input, deps, { isPlan: true });
    return { id: deps.runId, identity, ...(await planChanges(run, onRow)) };
  });
  return { check, plan };
}

/** A plan writes no files of rows. */
const noTargets = { failedFile: null, resultsFile: null } as unknown as ImportRun["targets"];

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
async function planChanges(
  run: ImportRun,
  onRow: (row: PlannedRow) => Promise<void>,
): Promise<Pick<ChangePlan, "summary" | "ownPhotos">> {
  const { total, invalid } = run.check;
  const plan = await makePlan(run);
  const { fields, photos, uploads, localPhotos, writes, kept, conflicts, deleted, not_applied } = plan;
  const actions = Object.fromEntries(countedActions.map((action) => [action, 0]));
  const { mode } = run.input;
  for await (const row of run.rows.decided()) {
    const planned = plannedRow(row, run.input);
    if (planned.action in actions) actions[planned.action]!++;
    await onRow(planned);
  }
  const requests = writes + (await countBatches(run, localPhotos.keys()));
  const shared = { kept, conflicts, deleted, photos, not_applied, known_failures: 0 };
  const counts = {
    fields: mode === "upsert" ? fields : noFields,
    ...shared,
    requests,
    uploads: uploads.count,
  };
  const summary = { total, invalid, ...actions, ...counts } as PlanSummary;
  return { summary, ownPhotos: plan.ownPhotos };
}

const noFields = { name: 0, description: 0, sex: 0 };

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
