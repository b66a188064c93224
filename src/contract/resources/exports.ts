import * as z from "zod";
import { limits } from "../limits.ts";
import { operation } from "../operation.ts";
import { closedSet, openSet, reliedOn } from "../response-values.ts";
import * as sets from "../value-sets.ts";
import { Count, DownloadUrl, listSchema, pageQuery, QueryTimestamp, Timestamp, Ulid, Url } from "./fields.ts";

/** One image of a product: an uploaded photo or a generated image. */
export const ExportAsset = z.looseObject({
  id: Ulid,
  role: openSet(sets.assetRoles),
  url: Url,
  url_expires_at: Timestamp,
  mime_type: closedSet(sets.imageTypes),
  width: z.int().nullable(),
  height: z.int().nullable(),
  ai_generated: z.boolean(),
  watermarked: z.boolean(),
  derived: z.boolean(),
  created_at: Timestamp,
  task_id: Ulid.nullable(),
  attributes: z.record(z.string(), z.unknown()),
  also_features: z.array(Ulid),
  suggested_filename: z.string(),
});
export type ExportAsset = z.infer<typeof ExportAsset>;

/** A product with all its assets. `deleted_at` is set in delta mode only; `assets` is then empty. */
export const ExportRow = z.looseObject({
  product: reliedOn(
    z.looseObject({
      id: Ulid,
      reference: z.string() as unknown as z.ZodType<string | null, string | null>,
      name: z.string(),
      sex: closedSet(sets.sexes).nullable(),
      deleted_at: reliedOn(z.iso.datetime({ offset: true, error: "must be a time" })).nullable(),
    }),
  ),
  assets: z.array(ExportAsset),
});
export type ExportRow = z.infer<typeof ExportRow>;

/** A frozen selection: a JSONL manifest, or a ZIP of image files. */
export const ExportJob = z.looseObject({
  id: Ulid,
  format: closedSet(sets.exportFormats),
  status: reliedOn(z.enum(sets.exportStatuses)),
  url: DownloadUrl.nullable(),
  url_expires_at: Timestamp.nullable(),
  total_assets: Count,
  error: z.looseObject({ code: z.string(), message: z.string() }).nullable(),
  created_at: Timestamp,
  finished_at: Timestamp.nullable(),
});
export type ExportJob = z.infer<typeof ExportJob>;

/** Up to 500 products. An empty list selects none: no lower bound is specified (Exports). */
export const ExportSelection = z.strictObject({
  format: z.enum(sets.exportFormats).default("manifest"),
  product_ids: z.array(z.string()).max(limits.exportProducts).optional(),
  role: z.array(z.enum(sets.assetRoles)).optional(),
});

/** The distinct roles of a comma-separated filter, in the order of the set; null if one is unknown. */
export function parseRoles(filter: string): sets.AssetRole[] | null {
  const named = filter.split(",").map((role) => role.trim());
  if (!named.every((role) => (sets.assetRoles as readonly string[]).includes(role))) return null;
  return sets.assetRoles.filter((role) => named.includes(role));
}

/** Asset roles separated by commas (Exports, `role`). */
const RoleFilter = z
  .string()
  .refine(
    (filter) => parseRoles(filter) !== null,
    `must be a comma-separated list of roles: ${sets.assetRoles.join(", ")}`,
  );

export const exports = {
  list: operation({
    method: "GET",
    path: "/v1/exports",
    summary: "Read the catalog: one row per product with all its assets",
    query: z.object({ ...pageQuery, role: RoleFilter.optional(), since: QueryTimestamp.optional() }),
    reply: listSchema(ExportRow),
  }),
  create: operation({
    method: "POST",
    path: "/v1/exports",
    summary: "Export a selection as a manifest or a ZIP",
    body: { "application/json": ExportSelection },
    status: 202,
    reply: ExportJob,
    rejects: { 404: ["product_not_found"], 502: ["upstream_unavailable"] },
    polled: true,
  }),
  get: operation({
    method: "GET",
    path: "/v1/exports/{export_id}",
    summary: "Get the status of an export job",
    params: z.object({ export_id: z.string() }),
    reply: ExportJob,
    rejects: { 404: ["export_not_found"] },
    polled: true,
  }),
};
