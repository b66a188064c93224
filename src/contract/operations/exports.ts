import * as z from "zod";
import { operation } from "../operation.ts";
import { ExportJob, ExportRow, ExportSelection, RoleFilter } from "../resources/export.ts";
import { listOf, pageQuery, QueryTimestamp } from "../resources/fields.ts";

export const exports = {
  list: operation({
    method: "GET",
    path: "/v1/exports",
    summary: "Read the catalog: one row per product with all its assets",
    scope: "exports:read",
    query: z.object({ ...pageQuery, role: RoleFilter.optional(), since: QueryTimestamp.optional() }),
    status: 200,
    reply: listOf(ExportRow),
    refuses: { 400: ["invalid_cursor"] },
  }),
  create: operation({
    method: "POST",
    path: "/v1/exports",
    summary: "Export a selection as a manifest or a ZIP",
    scope: "exports:write",
    body: { "application/json": ExportSelection },
    status: 202,
    reply: ExportJob,
    refuses: { 404: ["product_not_found"], 502: ["upstream_unavailable"] },
    polled: true,
  }),
  get: operation({
    method: "GET",
    path: "/v1/exports/{export_id}",
    summary: "Get the status of an export job",
    scope: "exports:read",
    params: z.object({ export_id: z.string() }),
    status: 200,
    reply: ExportJob,
    refuses: { 404: ["export_not_found"] },
    polled: true,
  }),
};
