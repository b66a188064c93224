// Columns of an import file: their names, the row made from their cells, and the problems of a row.

import { canonicalReference } from "../../contract/import-row.ts";
import { inOneLine } from "../outputs/row-outcome.ts";
import type { LocalPhotos } from "../photos/local-photos.ts";
import { type PhotoProblem, repeatedPhotos } from "../photos/photo-problem.ts";
import type { FieldProblem, RowForm } from "../rows/row-form.ts";
import { CsvCells } from "./cells.ts";
import { type ColumnMap, isKnownColumn, readColumns } from "./columns.ts";
import { inputRowProblems, localImagesOf, withOrientations } from "./file-row.ts";

export interface ImportForm extends RowForm {
  /** Whether a row that was checked names an image ID. */
  readonly namesImageIds: boolean;
}

/**
 * The form of rows in an import file: the service's rows (Imports, Row fields), except that a photo may be a
 * local file. `map`: columns mapped with `--map`. `photos`: checks local files; without it only their paths
 * are checked.
 */
export const importForm = (map: ColumnMap, photos?: Pick<LocalPhotos, "problems">): ImportForm => {
  let namesImageIds = false;
  return {
    get namesImageIds() {
      return namesImageIds;
    },
    isColumn: (header) => isKnownColumn(header, map),
    columns: (header, line, report) =>
      new CsvCells(header.length === 0 ? [] : readColumns(header, map, line, report), header),
    fromObject: withOrientations,
    problems(row) {
      namesImageIds ||= hasImageId(row);
      const repeated = repeatedPhotos(row);
      const invalid: readonly FieldProblem[] = inputRowProblems(row);
      const problems = repeated.length === 0 ? invalid : [...invalid, ...repeated];
      const images = photos === undefined ? [] : localImagesOf(row);
      if (images.length === 0) return problems;
      return photos!.problems(images).then((faults) => [...problems, ...faults.map(photoProblem)]);
    },
    referenceOf,
    // The service finds duplicates within one request only (Imports, rule 1).
    unique: {
      keyOf: referenceOf,
      param: "reference",
      code: "duplicate_reference_in_file",
      message: (reference, line) => `duplicate reference "${reference}", first used on line ${line}`,
      reason: (reference) => inOneLine(`duplicate reference "${reference}", first used in an earlier row`),
      namesKey: (reason) => /^duplicate reference ".*", first used/.test(reason),
    },
    withoutDone: (object, done) =>
      done.size === 0
        ? object
        : { ...object, images: (object.images as unknown[]).filter((_, index) => !done.has(index)) },
  };
};

/** The reference of a row, if it has one that can be shown. */
function referenceOf(row: unknown): string | undefined {
  const reference = (row as { reference?: unknown } | null)?.reference;
  if (typeof reference !== "string") return undefined;
  const canonical = canonicalReference(reference);
  return canonical === "" ? undefined : canonical;
}

const hasImageId = (row: unknown): boolean => {
  const images = (row as { images?: unknown } | null)?.images;
  return Array.isArray(images) && images.some((image) => image?.image_id !== undefined);
};

function photoProblem({ index, path, code, message }: PhotoProblem): FieldProblem {
  const param = `images[${index}].path`;
  // The cell may be a mistyped URL instead of a path.
  const cellMessage =
    code === "photo_not_found"
      ? `${JSON.stringify(path)} is not a URL, an image ID or an existing file (${message})`
      : message;
  return { param, code, message: `${param}: ${message}`, cellMessage };
}
