import * as z from "zod";
import { limits } from "../../contract/limits.ts";
import { Name, Sex, Ulid } from "../../contract/resources/fields.ts";
import { assetRoles, exportFormats, exportStatuses, orientations } from "../../contract/value-sets.ts";
import { comingMoment, isUnlike, JobId, KeptReference, KeptTimestamp } from "../store/state-fields.ts";

const ExportFields = z.strictObject({
  id: JobId,
  format: z.enum(exportFormats),
  status: z.enum(exportStatuses),
  total_assets: z.int().min(0),
  error: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
  created_at: KeptTimestamp,
  finished_at: KeptTimestamp.nullable(),
  ready_at: comingMoment,
  roles: z.array(z.enum(assetRoles)).readonly().nullable(),
  products: z
    .array(
      z.strictObject({
        id: Ulid,
        reference: KeptReference,
        name: Name,
        sex: Sex.nullable(),
        images: z.array(z.strictObject({ id: Ulid, orientation: z.enum(orientations) })).readonly(),
        generations: z.array(Ulid).readonly(),
      }),
    )
    .max(limits.exportProducts)
    .refine((products) => isUnlike(products.map(({ id }) => id)), "an export can have a product only once")
    .readonly(),
});

/** An export job of a snapshot (`ExportRecord`); contradictory fields are rejected. */
export const ExportState = ExportFields.refine(agrees, "the fields do not match the format and status");

/**
 * Whether the fields match the status (States, Export job). A manifest is completed immediately and cannot
 * fail.
 */
function agrees({ format, status, error, finished_at }: z.infer<typeof ExportFields>): boolean {
  return (
    (status === "processing") === (finished_at === null) &&
    (status === "failed") === (error !== null) &&
    (format === "zip" || status === "completed")
  );
}
