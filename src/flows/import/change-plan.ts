// A plan: what an import would change at the service, found out by reading alone.

import { limits } from "../../contract/limits.ts";
import { CatError } from "../../errors.ts";
import { type CheckResult, isRejected } from "../rows/check.ts";
import { type Run, withoutBeginning } from "../run/run.ts";
import { aboutTime } from "../run/writes.ts";
import { counted, grouped, shownName } from "../words.ts";
import { readSeen } from "./compare.ts";
import { type LedgerField, ledgerFields } from "./digests.ts";
import { reasonToCompareAgain, unsettled } from "./earlier-runs.ts";
import { checkFiles, type FileToImport, toRequest } from "./import-file.ts";
import { type ImportRun, importRun } from "./import-run.ts";
import { makePlan, planRows } from "./plan.ts";
import { type PlannedAction, type PlannedRow, plannedActions, plannedRow } from "./planned-row.ts";
import { cutBatches } from "./send.ts";

/** The counts of a plan. */
export interface PlanSummary extends Record<Exclude<PlannedAction, "add_photos">, number> {
  readonly total: number;
  readonly invalid: number;
  /** Rows that only add photos. */
  readonly add_photos: number;
  /** How many rows change each field. */
  readonly fields: Record<LedgerField, number>;
  /** Photos that are added, of created products too. */
  readonly photos: number;
  /** The requests that the import sends, and the photos that it uploads before. */
  readonly requests: number;
  readonly uploads: number;
}

/** A plan of a file that passed the check. */
export interface ChangePlan {
  /** The ID of the run that carries it out. */
  readonly id: string;
  readonly identity: string;
  readonly summary: PlanSummary;
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
    return { id: deps.runId, identity, summary: await planChanges(run, onRow) };
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
async function planChanges(run: ImportRun, onRow: (row: PlannedRow) => Promise<void>): Promise<PlanSummary> {
  const seen = run.seen!;
  const { uploads, photos } = (await makePlan(run)) ?? (await planRows(run));
  await readSeen(run, seen);
  const { total, invalid } = run.check;
  const actions = Object.fromEntries(plannedActions.map((action) => [action, 0]));
  const fields = { name: 0, description: 0, sex: 0 };
  let added = 0;
  for await (const row of run.rows.decided()) {
    const planned = plannedRow(row, seen, run.input);
    actions[planned.action]!++;
    for (const field of ledgerFields) if (planned.fields[field] !== undefined) fields[field]++;
    added += planned.photos.length;
    await onRow(planned);
  }
  const requests = await countRequests(run, photos.keys());
  const counts = { fields, photos: added, requests, uploads: uploads.count };
  return { total, invalid, ...actions, ...counts } as PlanSummary;
}

/** An image ID of the length that the service gives to uploads: batches are cut by their bytes. */
const anyImage = { image: "0".repeat(26) };

/** The number of requests that write rows: batches, cut as for sending, and one for each product whose fields alone differ. */
async function countRequests(run: ImportRun, photos: Iterable<string>): Promise<number> {
  for (const sha256 of photos) run.uploads.set(sha256, anyImage);
  let batches = 0;
  for await (const _ of cutBatches(run)) batches++;
  return batches + run.rows.toPatch.size;
}

const fieldWords: Readonly<Record<LedgerField, string>> = {
  name: "name",
  description: "description",
  sex: "sex value",
};

/** The plan in one line, e.g. `Plan: 12 to create, 184 unchanged; 1 request, about 1 min.` */
export function planLine(summary: PlanSummary): string {
  const { create, change, unchanged, skip, fail, photos, requests, uploads, invalid } = summary;
  const changed = ledgerFields
    .filter((field) => summary.fields[field] > 0)
    .map((field) => counted(summary.fields[field], fieldWords[field]));
  const parts = [
    create > 0 && `${grouped(create)} to create`,
    change > 0 && `${grouped(change)} to change${changed.length > 0 ? ` (${changed.join(", ")})` : ""}`,
    photos > 0 && `${counted(photos, "photo")} to add`,
    skip > 0 && `${grouped(skip)} to skip`,
    fail > 0 && `${grouped(fail)} to fail`,
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
