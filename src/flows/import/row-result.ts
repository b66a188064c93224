// The outcome of a row: in the summary, the results file and the failed file.

import type { ImportRowResult } from "../../contract/resources/imports.ts";
import type { WordFailure } from "../outputs/failed-file.ts";
import type { ResultsForm } from "../outputs/results-file.ts";
import { inOneLine, type RowOutcome as OutcomeOf, type RowFailure } from "../outputs/row-outcome.ts";
import type { DecidedRow } from "./decide.ts";
import { partialCode } from "./decide-photos.ts";
import type { RejectedPhoto } from "./digests.ts";
import type { FileRow } from "./file-row.ts";
import { lookalikeCode } from "./references.ts";
import { placed } from "./said.ts";
import type { UntouchedName } from "./summary.ts";

/**
 * A row's result in the service's form (ImportRowResult). In no batch, `line` is null and `action` may be
 * `unchanged`. The `index` of an image is its place in the row of the file.
 */
export interface RowResult {
  line: number | null;
  reference: string;
  status: ImportRowResult["status"];
  action: ImportRowResult["action"] | UntouchedName;
  product_id: string | null;
  images: ImportRowResult["images"];
  error: { code: string; message: string } | null;
}

/** The outcome of one row; its done parts are photos that the service has, by place in the row. */
export type ImportedRow = OutcomeOf<RowResult>;

export type NamedRow = Pick<DecidedRow, "line" | "reference">;

type OwnResult = Pick<RowResult, "status" | "action"> &
  Partial<Pick<RowResult, "product_id" | "images" | "error">>;

const ownOutcome = (
  { line, reference }: NamedRow,
  { status, action, product_id = null, images = [], error = null }: OwnResult,
): ImportedRow => {
  const result = { line: null, reference, status, action, product_id, images, error };
  const failure = failureOfRow(result);
  return failure === undefined ? { line, result } : { line, result, failure };
};

/** The outcome of a row that needs nothing more: its product was changed, or is as it stays. */
export const doneRow = (
  row: NamedRow,
  action: "updated" | UntouchedName,
  product_id: string | null,
): ImportedRow => ownOutcome(row, { status: "succeeded", action, product_id });

/** The codes of rows that are skipped as conflicts (docs/resuming.md). */
const conflictCodes = [
  "changed_since",
  "photo_exists",
  "photo_unknown",
  "last_photo",
  "product_deleted",
  "reference_changed",
  "no_images",
  lookalikeCode,
  partialCode,
] as const;

export const isConflictCode = (code: string): boolean => (conflictCodes as readonly string[]).includes(code);

/** Codes of rows that a failed file has with all their photos. Another one may be that of a partial row. */
const completeCodes: ReadonlySet<string> = new Set([
  ..."photo_exists photo_unknown product_deleted reference_changed no_images image_failed".split(" "),
  ..."reference_already_exists too_many_attempts import_failed product_not_found not_sent".split(" "),
  lookalikeCode,
]);

export const mayBePartial = (code: string | undefined): boolean =>
  code !== undefined && !completeCodes.has(code);

/** The outcome of a row that fails, or is skipped as a conflict, outside a batch. */
export const failedRow = (
  row: NamedRow,
  { code, message }: RowFailure,
  product_id: string | null = null,
  images: RowResult["images"] = [],
): ImportedRow =>
  ownOutcome(row, { status: "failed", action: "none", product_id, images, error: { code, message } });

export const productGone: RowFailure = {
  code: "product_not_found",
  message: "the product was deleted during the import: import this row again to re-create it",
};

/** The failure of a row that is no longer imported as planned. */
export const productChanged: RowFailure = {
  code: "product_changed",
  message: "the product changed since the plan was made: plan this row again",
};

/** The outcome of a row whose photos the service rejected; `discarded`: photos lost with it. */
export function rejectedRow(row: DecidedRow, discarded: readonly number[]): ImportedRow {
  const { content, rejected } = row;
  const lost = discarded.map((image) => ({ ...placed(content.images[image]!, image), ...discardedWithRow }));
  const images = [...rejected, ...lost].map(failedImage).sort(byIndex);
  const message = `the service rejected ${rejected.length} of ${content.images.length} photos`;
  return failedRow(row, { code: "image_failed", message }, null, images);
}

const discardedWithRow = { code: "row_failed", message: "another photo of the row was rejected" };

/** A row with rejected photos whose results and product are not known yet; `done`: its other photos. */
export const pendingRow = (
  row: NamedRow,
  rejected: readonly RejectedPhoto[],
  done: readonly number[],
): ImportedRow => {
  const images = rejected.map(failedImage).sort(byIndex);
  return { ...ownOutcome(row, { status: "partial", action: null, images }), done };
};

export const failedImage = ({ image, source, orientation, code, message }: RejectedPhoto) => ({
  index: image,
  source,
  orientation,
  status: "failed" as const,
  error: { code, message },
});

/** Orders images as they are in the row. */
export const byIndex = (a: { index: number }, b: { index: number }): number => a.index - b.index;

/** The failure of a failed or partial row, as one code and one message. */
export function failureOfRow(result: RowResult): RowFailure | undefined {
  if (result.status !== "failed" && result.status !== "partial") return undefined;
  const images = result.images.filter((image) => image.status === "failed");
  const reasons = images.map(
    ({ source, error }) => `${source}: ${error?.message ?? error?.code ?? "not attached"}`,
  );
  const parts = [result.error?.message ?? [], reasons].flat();
  const codes: unknown[] = [result.error?.code, images[0]?.error?.code];
  const code = codes.find((candidate) => typeof candidate === "string") ?? result.status;
  return { code: code as string, message: inOneLine(parts.join("; ")) || result.status };
}

/** The results file of an import: the ImportRowResult of every row, with `file_line` added. */
export const resultsForm: ResultsForm<RowResult> = {
  columns: [
    "file_line",
    "line",
    "reference",
    "status",
    "action",
    "product_id",
    "error_code",
    "error_message",
    "images",
  ],
  cells: (file_line, { line, reference, status, action, product_id, error, images }) => [
    file_line,
    line,
    reference,
    status,
    action,
    product_id,
    error?.code,
    error?.message,
    JSON.stringify(images),
  ],
  object: (file_line, result) => ({ ...result, file_line }),
};

/** Names local photos in a failure by their path in the row: the service knows only image IDs. */
export const inWordsOfRow: WordFailure<RowResult> = ({ content }, { result, failure }) => {
  let { message } = failure!;
  for (const { index, source } of result?.images ?? []) {
    const path = (content as FileRow | undefined)?.images[index]?.path;
    if (path !== undefined) message = message.replace(`${source}: `, () => `${path}: `);
  }
  return { ...failure!, message, paths: result === undefined ? [] : pathsToFix(result) };
};

/** The paths of what the user can fix; photos that failed with their row are not among them. */
function pathsToFix({ images, error }: RowResult): string[] {
  const photos = images.filter(({ status, error }) => status === "failed" && error?.code !== "row_failed");
  const paths = photos.map(({ index }) => `images[${index}]`);
  return error?.code === "reference_already_exists" ? ["reference", ...paths] : paths;
}
