// Columns of an import file: their names, how cells become a row, and what is wrong with a row.

import { canonicalReference } from "../../../contract/import-row.ts";
import type { LocalPhotos } from "../../photos/local-photos.ts";
import type { PhotoFault } from "../../photos/photo-fault.ts";
import type { FieldProblem, RowForm } from "../../rows/row-form.ts";
import { CsvCells } from "./csv-cells.ts";
import { type ColumnMap, isKnownColumn, readColumns } from "./csv-columns.ts";
import { inputRowProblems, localImagesOf, withOrientations } from "./local-images.ts";

/**
 * The rows of an import file: the service's own (Imports, Row fields), but a photo may be a local file. `map` is what
 * `--map` says of columns, `photos` checks local files; without it only their paths are checked.
 */
export const importForm = (map: ColumnMap, photos?: Pick<LocalPhotos, "problems">): RowForm => ({
  isColumn: (header) => isKnownColumn(header, map),
  columns: (header, line, report) =>
    new CsvCells(header.length === 0 ? [] : readColumns(header, map, line, report), header),
  fromObject: withOrientations,
  problems(row) {
    const problems: readonly FieldProblem[] = inputRowProblems(row);
    const images = photos === undefined ? [] : localImagesOf(row);
    if (images.length === 0) return problems;
    return photos!.problems(images).then((faults) => [...problems, ...faults.map(photoProblem)]);
  },
  referenceOf,
  // The service sees duplicates within one request only (Imports, rule 1).
  unique: {
    keyOf: referenceOf,
    param: "reference",
    code: "duplicate_reference_in_file",
    message: (reference, line) =>
      `duplicate reference "${reference}", first used ${line === null ? "in an earlier row" : `on line ${line}`}`,
  },
  withoutDone: (object, done) =>
    done.size === 0
      ? object
      : { ...object, images: (object.images as unknown[]).filter((_, index) => !done.has(index)) },
});

/** A row's reference, where it has one that can be shown. */
function referenceOf(row: unknown): string | undefined {
  const reference = (row as { reference?: unknown } | null)?.reference;
  if (typeof reference !== "string") return undefined;
  const canonical = canonicalReference(reference);
  return canonical === "" ? undefined : canonical;
}

function photoProblem({ index, path, code, message }: PhotoFault): FieldProblem {
  const param = `images[${index}].path`;
  // What is not a file may be a URL with a slip in it.
  const cellMessage =
    code === "photo_not_found"
      ? `${JSON.stringify(path)} is neither an https:// URL, nor an image id, nor a file: ${message}`
      : message;
  return { param, code, message: `${param}: ${message}`, cellMessage };
}
