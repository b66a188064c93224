import type { WordFailure } from "../../outputs/failed-file.ts";
import type { ResultsForm } from "../../outputs/results-file.ts";
import type { FileRow } from "../columns/file-row.ts";
import type { RowResult } from "../outcomes/row-result.ts";

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

/**
 * Names local photos in a failure by their path in the row: the service knows only the IDs of their uploads.
 */
export const inWordsOfRow: WordFailure<RowResult> = ({ row }, { result, failure }) => {
  let { message } = failure!;
  for (const { index, source } of result?.images ?? []) {
    const path = (row as FileRow | undefined)?.images[index]?.path;
    if (path !== undefined) message = message.replace(`${source}: `, () => `${path}: `);
  }
  return { ...failure!, message };
};
