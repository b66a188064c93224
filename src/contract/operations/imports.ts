import * as z from "zod";
import { ImportRefusal } from "../error-codes.ts";
import { operation } from "../operation.ts";
import { pageQuery, shownListOf } from "../resources/fields.ts";
import { Import, ImportRow, ImportRowResult, ImportSubmission, importOptions } from "../resources/import.ts";
import { rowStatuses } from "../value-sets.ts";

const params = z.object({ import_id: z.string() });

export const imports = {
  create: operation({
    method: "POST",
    path: "/v1/imports",
    summary: "Submit 1 to 2,000 rows for import",
    scope: "imports:write",
    // Options go into a JSON body, or into the query with NDJSON (Imports). No defaults are filled in here:
    // the mock could not distinguish them from options sent in the wrong place.
    query: z.object({
      mode: importOptions.mode.unwrap().optional().meta({ default: "upsert" }),
      on_image_error: importOptions.on_image_error.unwrap().optional().meta({ default: "skip" }),
    }),
    body: { "application/x-ndjson": ImportRow, "application/json": ImportSubmission },
    status: 202,
    reply: Import,
    refuses: { 502: ["upstream_unavailable"] },
    refusalList: ImportRefusal,
    polled: true,
  }),
  get: operation({
    method: "GET",
    path: "/v1/imports/{import_id}",
    summary: "Get the status of an import",
    scope: "imports:read",
    params,
    status: 200,
    reply: Import,
    refuses: { 404: ["import_not_found"] },
    polled: true,
  }),
  rows: operation({
    method: "GET",
    path: "/v1/imports/{import_id}/rows",
    summary: "List the row results of an import in input order",
    scope: "imports:read",
    params,
    query: z.object({ ...pageQuery, status: z.enum(rowStatuses).optional() }),
    status: 200,
    reply: shownListOf(ImportRowResult),
    refuses: { 400: ["invalid_cursor"], 404: ["import_not_found"] },
  }),
};
