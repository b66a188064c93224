import * as z from "zod";
import { Sex, Timestamp, Ulid } from "../../contract/resources/fields.ts";
import { assetRoles, exportFormats, exportStatuses, orientations } from "../../contract/value-sets.ts";
import { lastMoment } from "../last-moment.ts";

/** An export job as the state shows it (`ExportRecord`). */
export const ExportState = z.strictObject({
  id: Ulid,
  format: z.enum(exportFormats),
  status: z.enum(exportStatuses),
  total_assets: z.int().min(0),
  error: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
  created_at: Timestamp,
  finished_at: Timestamp.nullable(),
  ready_at: z.number().min(0).max(lastMoment),
  roles: z.array(z.enum(assetRoles)).readonly().nullable(),
  products: z
    .array(
      z.strictObject({
        id: Ulid,
        reference: z.string(),
        name: z.string(),
        sex: Sex.nullable(),
        images: z.array(z.strictObject({ id: Ulid, orientation: z.enum(orientations) })).readonly(),
        generations: z.array(Ulid).readonly(),
      }),
    )
    .readonly(),
});
