import * as z from "zod";
import { limits } from "../limits.ts";
import { operation } from "../operation.ts";
import { closedSet, openSet, reliedOn } from "../response-values.ts";
import { describeBreach, urlBreach } from "../url-policy.ts";
import * as sets from "../value-sets.ts";
import { ImportRefusal } from "./errors.ts";
import {
  Count,
  Description,
  Name,
  pageQuery,
  Reference,
  Sex,
  shownListSchema,
  Timestamp,
  Ulid,
  Url,
} from "./fields.ts";

/** A bulk job. `counts.total` is null while validating; `results_url` is signed again on every read. */
export const Import = z.looseObject({
  id: Ulid,
  status: reliedOn(z.enum(sets.importStatuses)),
  mode: closedSet(sets.importModes),
  on_image_error: closedSet(sets.onImageErrors),
  counts: reliedOn(
    z.looseObject({
      total: Count.nullable(),
      pending: Count,
      succeeded: Count,
      partial: Count,
      failed: Count,
    }),
  ),
  results_url: Url.nullable(),
  created_at: Timestamp,
  started_at: Timestamp.nullable(),
  finished_at: Timestamp.nullable(),
});
export type Import = z.infer<typeof Import>;

const problem = (codes: readonly string[]) => z.looseObject({ code: openSet(codes), message: z.string() });

/** The result of one row. `line` is the line in the request body, from 1. */
export const ImportRowResult = z.looseObject({
  line: reliedOn(z.int().min(1)),
  reference: reliedOn(z.string()),
  status: reliedOn(z.enum(sets.rowStatuses)),
  action: reliedOn(z.enum(sets.rowActions)).nullable(),
  product_id: Ulid.nullable(),
  images: reliedOn(
    z.array(
      z.looseObject({
        index: reliedOn(z.int().min(0)),
        source: z.string(),
        orientation: openSet(sets.orientations),
        status: reliedOn(z.enum(sets.imageStatuses)),
        image_id: Ulid.optional(),
        error: problem(sets.imageErrorCodes).optional(),
      }),
    ),
  ),
  error: problem(sets.rowErrorCodes).nullable(),
});
export type ImportRowResult = z.infer<typeof ImportRowResult>;

/** The URL of an image in a row; must follow the URL policy (Imports, "An image url must be"). */
export const ImageUrl = z.string().superRefine((value, context) => {
  const breach = urlBreach(value);
  if (breach !== null) context.addIssue({ code: "custom", message: `url ${describeBreach(breach)}` });
});
const orientation = z.enum(sets.orientations).optional();

/** One row of an import, for types and openapi.json. Validation uses `importRowProblems`. */
export const ImportRow = z.strictObject({
  reference: Reference,
  name: Name,
  description: Description.optional(),
  sex: Sex.optional(),
  images: z
    .array(
      z.union([
        z.strictObject({ url: ImageUrl, orientation }),
        z.strictObject({ image_id: Ulid, orientation }),
      ]),
    )
    .min(limits.imagesPerProduct.min)
    .max(limits.imagesPerProduct.max),
});
export type ImportRow = z.input<typeof ImportRow>;

const importOptions = {
  mode: z.enum(sets.importModes).default("upsert"),
  on_image_error: z.enum(sets.onImageErrors).default("skip"),
};

/** An import as JSON. `importRowProblems` validates the rows one by one, to list every problem. */
export const ImportSubmission = z.strictObject({
  mode: importOptions.mode,
  on_image_error: importOptions.on_image_error,
  rows: z
    .array(z.unknown().meta({ $ref: "#/components/schemas/ImportRow" }))
    .min(limits.importRows.min)
    .max(limits.importRows.max),
});

const params = z.object({ import_id: z.string() });

export const imports = {
  create: operation({
    method: "POST",
    path: "/v1/imports",
    summary: "Submit 1 to 2,000 rows for import",
    // Options go into a JSON body, or into the query with NDJSON (Imports). No defaults are filled in here:
    // the mock could not distinguish them from options sent in the wrong place.
    query: z.object({
      mode: importOptions.mode.unwrap().optional().meta({ default: "upsert" }),
      on_image_error: importOptions.on_image_error.unwrap().optional().meta({ default: "skip" }),
    }),
    body: { "application/x-ndjson": ImportRow, "application/json": ImportSubmission },
    status: 202,
    reply: Import,
    rejects: { 502: ["upstream_unavailable"] },
    rejectionList: ImportRefusal,
    polled: true,
  }),
  get: operation({
    method: "GET",
    path: "/v1/imports/{import_id}",
    summary: "Get the status of an import",
    params,
    reply: Import,
    rejects: { 404: ["import_not_found"] },
    polled: true,
  }),
  rows: operation({
    method: "GET",
    path: "/v1/imports/{import_id}/rows",
    summary: "List the row results of an import in input order",
    params,
    query: z.object({ ...pageQuery, status: z.enum(sets.rowStatuses).optional() }),
    reply: shownListSchema(ImportRowResult),
    rejects: { 404: ["import_not_found"] },
  }),
};
