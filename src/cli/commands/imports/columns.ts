import { Import, type ImportRowResult } from "../../../contract/resources/import.ts";
import type { SentJob } from "../../../state/sent-jobs.ts";
import { type Column, whole } from "../../output/columns.ts";
import { fieldColumns } from "../../resources/resource-form.ts";

/** An import stored on this machine, as it is printed. The service has no list of imports. */
export interface ListedImport {
  id: string;
  /** The file name as typed. */
  file: string;
  rows: number;
  mode: string;
  /** The last status seen here. */
  status: string;
  /** The time when the service accepted the import, by the local clock; RFC 3339 in UTC. */
  at: string;
  base_url: string;
  run_id: string;
}

/** The fields of a stored import, in the order of JSON. */
export const listedImportFields = [
  "id",
  "file",
  "rows",
  "mode",
  "status",
  "at",
  "base_url",
  "run_id",
] as const;

/** A stored import as it is printed. */
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

/** The columns of stored imports in tables and CSV; `manyServices` adds the base URL to tables. */
export const sentImportColumns = (manyServices: boolean): readonly Column<ListedImport>[] => [
  { name: "id", value: (sent) => sent.id },
  { name: "file", value: (sent) => sent.file },
  { name: "rows", value: (sent) => sent.rows },
  { name: "mode", value: (sent) => sent.mode, drop: "first", least: whole },
  { name: "status", value: (sent) => sent.status, least: whole },
  // To the minute, in UTC.
  { name: "at", value: (sent) => `${sent.at.slice(0, 16)}Z`, only: "table", least: whole },
  { name: "at", value: (sent) => sent.at, only: "csv" },
  { name: "base_url", value: (sent) => sent.base_url, ...(manyServices ? {} : { only: "csv" as const }) },
  { name: "run_id", value: (sent) => sent.run_id, only: "csv" },
];

/** The columns of an import of the service in CSV. */
export const importColumns = fieldColumns(Import, ["id", "status"]);

/** The columns of row results in tables and CSV; the CSV columns are those of a results file. */
export const rowColumns: readonly Column<ImportRowResult>[] = [
  { name: "line", value: (row) => row.line },
  { name: "reference", value: (row) => row.reference, cut: "last" },
  { name: "status", value: (row) => row.status, least: whole },
  { name: "action", value: (row) => row.action, drop: "first", least: whole },
  { name: "product_id", value: (row) => row.product_id },
  // Most error codes fit.
  { name: "error", value: reasons, only: "table", least: 15 },
  { name: "images", value: attachedOfAll, only: "table" },
  { name: "error_code", value: (row) => row.error?.code, only: "csv" },
  { name: "error_message", value: (row) => row.error?.message, only: "csv" },
  { name: "images", value: (row) => JSON.stringify(row.images), only: "csv" },
];

/** The images of a row: the client passes rows on unchecked. */
const imagesOf = ({ images }: ImportRowResult): ImportRowResult["images"] =>
  Array.isArray(images) ? images.filter((image) => typeof image === "object" && image !== null) : [];

/** The error code of the row, or else those of its failed images. */
function reasons(row: ImportRowResult): string {
  const { error } = row;
  if (typeof error === "object" && error !== null) return error.code;
  const codes = imagesOf(row).flatMap((image) =>
    image.status === "failed" ? [image.error?.code ?? "failed"] : [],
  );
  return [...new Set(codes)].join(" ");
}

/** The attached images of all images, e.g. `2/3`; empty while the row is pending. */
function attachedOfAll(row: ImportRowResult): string {
  if (row.status === "pending" || !Array.isArray(row.images)) return "";
  const images = imagesOf(row);
  return `${images.filter((image) => image.status === "attached").length}/${images.length}`;
}
