// Preparing: what the rows need before the first batch is sent: their products, comparisons of photos,
// decisions, the guards of the user, and the upload of local photos.

import { CatError } from "../../errors.ts";
import { uploadPhotos } from "../photos/upload-photos.ts";
import type { SomeRows } from "../rows/row-sets.ts";
import { readServiceTime } from "../run/clocks.ts";
import type { Stage } from "../run/stage.ts";
import { writeEstimate } from "../run/writes.ts";
import { mayNotRead } from "../service-errors.ts";
import { byteText, counted, grouped } from "../words.ts";
import { comparePhotos } from "./compare-photos.ts";
import { settleOtherRuns } from "./earlier-runs.ts";
import { askAboutPlan, confirmLikeExisting, rejectExcess, rowsRejection } from "./guards.ts";
import { type ImportRun, mostRowsReadEach, needsReads, otherCatalogue } from "./import-run.ts";
import { leaveOutMoved, type Plan, planRows } from "./plan.ts";
import { lookalikeCode } from "./references.ts";
import { batchSize } from "./send.ts";

/**
 * Settles what other runs left, plans the rows and uploads their photos, before any row is sent. Returns the
 * number of rows to send in batches. Errors that prevent sending are reported with the summary.
 */
export async function prepare(run: ImportRun): Promise<Stage<number>> {
  const { host, input, at, uploads } = run;
  try {
    await settleOtherRuns(at, input, host);
    let plan = await planRun(run);
    const rejection = rowsRejection(plan, run);
    if (rejection !== null) throw rejection;
    if (plan.conflicts > 0 && (await askAboutPlan(plan, run))) plan = await makePlan(run);
    await rejectExcess(plan, run);
    await confirmLikeExisting(plan, run);
    noteEstimate(plan, run);
    await uploadPlanned(plan, run);
    if (plan.localPhotos.size > 0 && run.products.isStale) {
      // The uploads may have taken hours.
      run.products.forget();
      plan = await planRun(run);
    }
    // Rows may fail with their rejected photos.
    if ([...uploads.values()].some((upload) => "rejected" in upload)) plan = await planRows(run);
    run.counts.photos.adopted = run.comparisons.adopted;
    // Get one response before the first batch: the age of its key is measured by the service's clock.
    await readServiceTime(at);
    return { done: plan.sends, stopped: undefined };
  } catch (error) {
    if (isReportedAlone(error) && !at.signal.aborted) throw error;
    return { done: 0, stopped: error };
  }
}

/** Decides about rows, without those that are no longer as a plan says. */
async function planRun(run: ImportRun, some?: SomeRows): Promise<Plan> {
  const plan = await makePlan(run, some);
  if (run.input.applies === undefined) return plan;
  await leaveOutMoved(run, some);
  return planRows(run, some);
}

/** Decides again about rows that waited while others changed products; uploads what they need. */
export const planAgain = async (run: ImportRun, some: SomeRows): Promise<void> =>
  uploadPlanned(await planRun(run, some), run);

const uploadPlanned = ({ localPhotos }: Plan, { at, host, input, uploads }: ImportRun): Promise<void> =>
  uploadPhotos(localPhotos, uploads, {
    photos: input.localPhotos,
    service: at,
    uploads: at.state.uploads,
    account: at.account,
    random: host.random,
    writesPerMinute: host.writesPerMinute,
    onProgress: host.onProgress,
  });

/** The codes of errors for which a flag or an answer of the user is the reason. */
const limitCodes: readonly (string | undefined)[] = [
  "too_many_changes",
  "too_many_removals",
  "product_changed",
  "no_images",
  lookalikeCode,
  "declined",
];

/** Whether an error has no summary: so has a question to the user, which is no response of the service. */
const isReportedAlone = (error: unknown): boolean =>
  !(error instanceof CatError) ||
  limitCodes.includes(error.code) ||
  (error.type === "conflict" && error.status === undefined);

/** Decides about all rows not sent, or some; reads their products and compares photos as far as needed. */
export async function makePlan(run: ImportRun, some?: SomeRows): Promise<Plan> {
  if (some === undefined) await beginReading(run);
  for (;;) {
    const plan = await planRows(run, some);
    const isSettled = some !== undefined || run.choices.isOtherCatalogue || run.rows.finished > 0;
    // A run that has sent rows goes on as it began: those that are left are not all.
    const isOtherCatalogue = !isSettled && plan.gone > 0 && plan.alive === 0;
    if (plan.unread.count > 0) await readProducts(plan, run);
    else if (isOtherCatalogue) {
      run.choices.isOtherCatalogue = true;
      if (!run.isPlan) run.at.state.runs.addOption(run.at.id, "catalogue", otherCatalogue);
      const products =
        plan.gone === 1
          ? "The product of this file that was known is"
          : `All ${grouped(plan.gone)} products of this file that were known are`;
      run.host.onNote(`${products} gone: importing into another catalogue, as for the first time.`);
    } else if (plan.uncompared.length > 0)
      await withScopes(
        comparePhotos(plan.uncompared, run.comparisons, {
          run: run.at,
          localPhotos: run.input.localPhotos,
          onProgress: run.host.onProgress,
        }),
        ["images:read", "exports:read"],
      );
    else return plan;
  }
}

/** Of a large file that was imported before, what others changed since is read first. */
async function beginReading(run: ImportRun): Promise<void> {
  const { input, at, check, products, said, host } = run;
  if (input.mode !== "upsert") {
    // Rows are sent unread: what exists is known to the service, but not what only looks the same.
    await products.readNewest().catch((error: unknown) => {
      if (!mayNotRead(error)) throw error;
    });
    return;
  }
  const isLarge = check.valid > mostRowsReadEach;
  if (input.photos === "all" || !isLarge || input.exact === true) return;
  if (products.readAt !== null || at.state.ledger.lookedAt(at.account) === null || !said.areAny) return;
  await withScopes(products.readChanges(host.onNote), ["products:read", "exports:read"]);
}

async function readProducts({ unread }: Plan, run: ImportRun): Promise<void> {
  const { products, input, host, choices } = run;
  const reading = products.readUnread(unread);
  if (needsReads(run)) return withScopes(reading, ["products:read"]);
  try {
    await reading;
  } catch (error) {
    if (!mayNotRead(error)) throw error;
    choices.isRecorded = false;
    if (input.mode !== "upsert") return;
    host.onNote(
      "This API key cannot read products (scope products:read), so the changes of this import to existing products cannot be undone.",
    );
  }
}

/** Throws a CatError of type forbidden that names the scopes if the key lacks one of them. */
async function withScopes<Done>(reading: Promise<Done>, scopes: readonly string[]): Promise<Done> {
  try {
    return await reading;
  } catch (error) {
    if (!mayNotRead(error)) throw error;
    const { status, requestId, cause } = error;
    const [named, them] = scopes.length === 1 ? ["scope", "it"] : ["scopes", "both scopes"];
    throw new CatError(
      `cannot compare the rows with their products: --photos new needs a key with the ${named} ${scopes.join(" and ")}`,
      {
        type: "forbidden",
        code: "insufficient_scope",
        status,
        requestId,
        cause,
        hint: `Use a key with ${them}, or add --photos all to send all photos, including those already attached.`,
      },
    );
  }
}

function noteEstimate({ uploads, writes, sends }: Plan, run: ImportRun): void {
  const batches = Math.ceil(sends / batchSize(run.input).rows);
  const counts = { photos: uploads.count, bytes: uploads.bytes, changes: writes, batches };
  const line = estimateLine(counts, run.host.writesPerMinute);
  if (line !== null) run.host.onNote(`${line}.`);
}

/**
 * The writes of an import and the time that the rate limit alone needs; null if they fit in one window. Each
 * uploaded or detached photo, changed product and batch is one; `bytes`: the size of the photos.
 */
export function estimateLine(
  { photos, bytes, changes, batches }: Record<"photos" | "bytes" | "changes" | "batches", number>,
  writesPerMinute: number,
): string | null {
  const time = writeEstimate(photos + changes + batches, writesPerMinute);
  if (time === null) return null;
  const parts = [
    photos > 0 ? `${counted(photos, "photo")} to upload${bytes > 0 ? ` (${byteText(bytes)})` : ""}` : "",
    changes > 0 ? `${counted(changes, "change")} of products` : "",
    // One or two batches are not worth mentioning next to their photos.
    batches > writesPerMinute || (photos === 0 && changes === 0) ? `${grouped(batches)} batches to send` : "",
  ].filter((part) => part !== "");
  return `${parts.join(", ")}: ${time}`;
}
