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
    .refine((products) => isUnlike(products.map(({ id }) => id)), "an export has a product once")
    .readonly(),
});

/** An export job as the state shows it (`ExportRecord`); one whose parts contradict each other is refused. */
export const ExportState = ExportFields.refine(agrees, "its fields do not fit its format and status");

/** Whether what is set fits how far it has come (States, Export job): a manifest is written at once, and cannot fail. */
function agrees({ format, status, error, finished_at }: z.infer<typeof ExportFields>): boolean {
  return (
    (status === "processing") === (finished_at === null) &&
    (status === "failed") === (error !== null) &&
    (format === "zip" || status === "completed")
  );
}
