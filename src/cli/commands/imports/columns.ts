import type { ImportRowResult } from "../../../contract/resources/import.ts";
import type { SentJob } from "../../../state/sent-jobs.ts";
import type { Column } from "../../output/columns.ts";

/** An import as this machine remembers it, in the form that is printed; the service has no such list. */
export interface ListedImport {
  id: string;
  /** The file as it was typed. */
  file: string;
  rows: number;
  mode: string;
  /** The service's status as it was last seen here. */
  status: string;
  /** When the service accepted it, by this machine's clock; RFC 3339 in UTC. */
  at: string;
  base_url: string;
  run_id: string;
}

/** A remembered import as it is printed. */
export const listedImport = ({
  id,
  file,
  rows,
  variant: mode,
  status,
  at,
  baseUrl,
  runId,
}: SentJob): ListedImport => {
  return { id, file, rows, mode, status, at: new Date(at).toISOString(), base_url: baseUrl, run_id: runId };
};

/** Sent imports as tables and CSV files show them; `manyServices` tells in a table whose each is. */
export const sentImportColumns = (manyServices: boolean): readonly Column<ListedImport>[] => [
  { name: "id", value: (sent) => sent.id },
  { name: "file", value: (sent) => sent.file },
  { name: "rows", value: (sent) => sent.rows },
  { name: "mode", value: (sent) => sent.mode, drop: "first" },
  { name: "status", value: (sent) => sent.status },
  // To the minute, in UTC.
  { name: "at", value: (sent) => `${sent.at.slice(0, 16)}Z`, only: "table" },
  { name: "at", value: (sent) => sent.at, only: "csv" },
  { name: "base_url", value: (sent) => sent.base_url, ...(manyServices ? {} : { only: "csv" as const }) },
  { name: "run_id", value: (sent) => sent.run_id, only: "csv" },
];

/** Row results as people read them, and as the results file of an import has them in CSV. */
export const rowColumns: readonly Column<ImportRowResult>[] = [
  { name: "line", value: (row) => row.line },
  { name: "reference", value: (row) => row.reference, cut: "last" },
  { name: "status", value: (row) => row.status },
  { name: "action", value: (row) => row.action, drop: "first" },
  { name: "product_id", value: (row) => row.product_id },
  { name: "error", value: reasons, only: "table" },
  { name: "images", value: attachedOfAll, only: "table" },
  { name: "error_code", value: (row) => row.error?.code, only: "csv" },
  { name: "error_message", value: (row) => row.error?.message, only: "csv" },
  { name: "images", value: (row) => JSON.stringify(row.images), only: "csv" },
];

/** Why the row failed, or else why some of its images did. */
function reasons({ error, images }: ImportRowResult): string {
  if (typeof error === "object" && error !== null) return error.code;
  const codes = images.flatMap((image) => (image.status === "failed" ? [image.error?.code ?? "failed"] : []));
  return [...new Set(codes)].join(" ");
}

/** `2/3`: how many of its images are attached; nothing while that is open. */
function attachedOfAll({ status, images }: ImportRowResult): string {
  if (status === "pending") return "";
  return `${images.filter((image) => image.status === "attached").length}/${images.length}`;
}
