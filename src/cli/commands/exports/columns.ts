import { ExportJob } from "../../../contract/resources/export.ts";
import type { SentJob } from "../../../state/sent-jobs.ts";
import { type Column, whole } from "../../output/columns.ts";
import { fieldColumns } from "../../resources/resource-form.ts";

/** An export stored on this machine, as it is printed. The service has no list of exports. */
export interface ListedExport {
  id: string;
  /** The file or folder that it is for, as typed. */
  file: string;
  products: number;
  format: string;
  /** The last status seen here. */
  status: string;
  /** The time when the service accepted the export, by the local clock; RFC 3339 in UTC. */
  at: string;
  base_url: string;
  run_id: string;
}

/** The fields of a stored export, in the order of JSON. */
export const listedExportFields = [
  "id",
  "file",
  "products",
  "format",
  "status",
  "at",
  "base_url",
  "run_id",
] as const;

/** A stored export as it is printed. */
export const listedExport = ({
  id,
  file,
  rows,
  variant,
  status,
  at,
  baseUrl,
  runId,
}: SentJob): ListedExport => ({
  id,
  file,
  products: rows,
  format: variant,
  status,
  at: new Date(at).toISOString(),
  base_url: baseUrl,
  run_id: runId,
});

/** The columns of an export of the service in CSV. */
export const exportColumns = fieldColumns(ExportJob, ["id", "format", "status"]);

/** The columns of stored exports in tables and CSV; `manyServices` adds the base URL to tables. */
export const sentExportColumns = (manyServices: boolean): readonly Column<ListedExport>[] => [
  { name: "id", value: (sent) => sent.id },
  { name: "file", value: (sent) => sent.file },
  { name: "products", value: (sent) => sent.products },
  { name: "format", value: (sent) => sent.format, drop: "first", least: whole },
  { name: "status", value: (sent) => sent.status, least: whole },
  // To the minute, in UTC.
  { name: "at", value: (sent) => `${sent.at.slice(0, 16)}Z`, only: "table", least: whole },
  { name: "at", value: (sent) => sent.at, only: "csv" },
  { name: "base_url", value: (sent) => sent.base_url, ...(manyServices ? {} : { only: "csv" as const }) },
  { name: "run_id", value: (sent) => sent.run_id, only: "csv" },
];
