import * as z from "zod";
import { ImportRefusal } from "../error-codes.ts";
import { listOf, pageQuery } from "../resources/fields.ts";
import { Import, ImportRow, ImportRowResult, ImportSubmission, importOptions } from "../resources/import.ts";
import { rowStatuses } from "../value-sets.ts";
import { operation } from "./define.ts";

const params = z.object({ import_id: z.string() });

export const imports = {
  create: operation({
    method: "POST",
    path: "/v1/imports",
    summary: "Submit 1 to 2,000 rows for import",
    scope: "imports:write",
    // With a JSON body the options stand in the body, with NDJSON in the query (Imports). One that is left out stays so, as
    // nobody could tell it from one that was given at the wrong place.
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
    summary: "Get an import's status",
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
    summary: "List an import's row results, in input order",
    scope: "imports:read",
    params,
    query: z.object({ ...pageQuery, status: z.enum(rowStatuses).optional() }),
    status: 200,
    reply: listOf(ImportRowResult),
    refuses: { 400: ["invalid_cursor"], 404: ["import_not_found"] },
  }),
};
