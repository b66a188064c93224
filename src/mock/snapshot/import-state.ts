import * as z from "zod";
import { canonicalReference, importRowProblems } from "../../contract/import-row.ts";
import { limits } from "../../contract/limits.ts";
import { ImportRowResult } from "../../contract/resources/import.ts";
import {
  importModes,
  importStatuses,
  onImageErrors,
  orientations,
  type rowStatuses,
  sexes,
} from "../../contract/value-sets.ts";
import { comingMoment, isUnlike, JobId, KeptReference, KeptTimestamp } from "../store/state-fields.ts";

const count = z.int().min(0);
const text = z.string();

/** A pending row: valid, in its stored form. */
const Row = z
  .strictObject({
    reference: text,
    name: text,
    description: text.optional(),
    sex: z.enum(sexes).optional(),
    images: z.array(
      z.strictObject({
        url: text.optional(),
        image_id: text.optional(),
        orientation: z.enum(orientations).optional(),
      }),
    ),
  })
  .superRefine((row, context) => {
    // URLs are not checked here; they are checked again before the fetch.
    const problem = importRowProblems(row).find(({ param }) => !param?.endsWith(".url"));
    if (problem !== undefined)
      context.addIssue({ code: "custom", message: `is not a valid row: ${problem.message}` });
    else if (canonicalReference(row.reference) !== row.reference) {
      context.addIssue({
        code: "custom",
        message: "is not a valid row: the reference has surrounding whitespace",
      });
    }
  });

const ImportFields = z.strictObject({
  id: JobId,
  status: z.enum(importStatuses),
  mode: z.enum(importModes),
  on_image_error: z.enum(onImageErrors),
  created_at: KeptTimestamp,
  started_at: KeptTimestamp.nullable(),
  finished_at: KeptTimestamp.nullable(),
  validated_at: comingMoment,
  row_ms: z.number().positive(),
  rows: z
    .array(
      z
        .strictObject({ row: Row.nullable(), result: ImportRowResult })
        .refine(isOfRow, "the result does not match the row"),
    )
    .min(limits.importRows.min)
    .max(limits.importRows.max)
    .refine(
      (rows) => rows.every(({ result }, at) => at === 0 || result.line > rows[at - 1]!.result.line),
      "the lines are not in ascending order",
    )
    .refine(
      (rows) => isUnlike(rows.map(({ result }) => result.reference)),
      "two rows have the same reference",
    ),
  done: count,
  succeeded: count,
  partial: count,
  failed: count,
});

/**
 * An import of a snapshot (`ImportJob`). Counts that do not match the rows are rejected, because the job
 * might never end.
 */
export const ImportState = ImportFields.refine(
  agrees,
  "the rows do not match the status and the counts",
).refine(isStamped, "the timestamps do not match the status");

function agrees({ status, rows, done, ...counts }: z.infer<typeof ImportFields>): boolean {
  if (done > rows.length || (status === "validating" && done > 0)) return false;
  const isOver = status === "completed" || status === "completed_with_errors";
  // "One with failed rows still counts as completed", but says so (States, Import job).
  if (isOver && (done < rows.length || (status === "completed") !== (counts.partial + counts.failed === 0))) {
    return false;
  }
  const settled = rows.slice(0, done);
  const counted = (wanted: (typeof rowStatuses)[number]) =>
    settled.filter(({ result }) => result.status === wanted).length;
  return (
    settled.every(({ row }) => row === null) &&
    rows.slice(done).every(({ row, result }) => row !== null && result.status === "pending") &&
    counted("succeeded") === counts.succeeded &&
    counted("partial") === counts.partial &&
    counted("failed") === counts.failed &&
    counted("pending") === 0
  );
}

/** Whether the timestamps match the status; an import that could not run has not started. */
function isStamped({ status, started_at, finished_at }: z.infer<typeof ImportFields>): boolean {
  const isInProgress = status === "validating" || status === "processing";
  return (
    isInProgress === (finished_at === null) &&
    (status === "failed" || (status === "validating") === (started_at === null))
  );
}

/** Whether a result is possible for its row (ImportRowResult); the result of a pending row is empty. */
function isOfRow({ row, result }: { row: z.infer<typeof Row> | null; result: ImportRowResult }): boolean {
  const { reference, status, action, product_id, images, error } = result;
  if (status === "pending") {
    return row?.reference === reference && !action && !product_id && !error && images.length === 0;
  }
  const isKept = KeptReference.safeParse(reference).success;
  const attached = images.filter((image) => image.status === "attached");
  const areConsistent = images.every((image) =>
    image.status === "attached"
      ? image.image_id !== undefined && image.error === undefined
      : image.image_id === undefined && image.error !== undefined,
  );
  if (!isKept || !areConsistent) return false;
  if (status === "failed") return action === "none" && !product_id && !!error && attached.length === 0;
  const isMade = action === "created" || action === "updated";
  if (!product_id || error) return false;
  if (status === "partial") return isMade && attached.length > 0 && attached.length < images.length;
  return isMade
    ? attached.length > 0 && attached.length === images.length
    : action === "skipped" && images.length === 0;
}
