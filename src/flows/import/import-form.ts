// The form of an import file: its columns, and the rows made from their cells and objects.

import { sameValue } from "../../contract/did-you-mean.ts";
import { isObject } from "../../json.ts";
import { hadUnseenEnds, withoutUnseenEnds } from "../../text.ts";
import { judgedFields } from "../rows/damage.ts";
import { formulaText } from "../rows/formula-text.ts";
import { type ColumnMap, mappedHeader, noValues, type ValueMap, valuesRead } from "../rows/mapped-columns.ts";
import { emptyColumns, photoPosition, type RowForm, uncutTexts } from "../rows/row-form.ts";
import type { AddedPhotos } from "./added-photos.ts";
import { CsvCells } from "./cells.ts";
import {
  importVocabulary,
  isKnownColumn,
  objectFields,
  objectVocabulary,
  positionColumn,
  readColumns,
} from "./columns.ts";
import { type FileRow, withOrientations } from "./file-row.ts";
import { readReference, uniqueReference } from "./references.ts";
import { type CheckOptions, type FilePhotos, RowChecks } from "./row-checks.ts";
import { exportedColumn, isExportedText, withPlaces } from "./said.ts";
import { sharedPhotos } from "./shared-photos.ts";

/**
 * The form of rows in an import file: the service's rows (Imports, Row fields), except that a photo may be a
 * local file. `map`, `values`: what `--map` and `--map-value` map. `photos`: checks local files; without it
 * only their paths are checked. `added`: photos that rows get in addition to those in the file.
 */
export const importForm = (
  map: ColumnMap,
  photos?: FilePhotos,
  values: ValueMap = noValues,
  added?: AddedPhotos,
  { urls, needsPhotos = true, judged }: CheckOptions = {},
): RowForm => {
  const checks = new RowChecks({ photos, whyNone: added?.whyNone, urls, needsPhotos, judged });
  const orientations = new Map([...values].filter(([name]) => name === "orientation"));
  return {
    added,
    isColumn: (header) => isKnownColumn(header, map),
    words: importVocabulary,
    columns: (header, line, report) =>
      new CsvCells(
        header.length === 0 ? [] : readColumns(header, map, line, report, { values, needsPhotos }),
        header,
        values,
      ),
    objects: { map, words: objectVocabulary, fields: [...objectFields, positionColumn, exportedColumn] },
    fromObject: (object) => withOrientations(withPosition(objectRead(object, values, orientations))),
    problems: (row) => checks.problems(row),
    notes: (row) => checks.notes(row),
    ...(photos !== undefined && { notesAcrossRows: (random) => sharedPhotos(random, photos, urls) }),
    beyondLimit() {
      photos?.stopConverting();
      urls?.stop();
    },
    readReference,
    unique: {
      ...uniqueReference,
      // Of two references whose digits are lost, it is not known whether they were one.
      toKey: (row) => (checks.damage.hasLost(row, "reference") ? undefined : uniqueReference.toKey(row)),
    },
    merge: (contents) => checks.merge(contents),
    isDoubtful: (row) => checks.hasDoubtfulReference(row),
    withoutDone: (object, done) => (done.size === 0 ? object : withoutDonePhotos(object, done, map)),
  };
};

const withoutDonePhotos = (object: Record<string, unknown>, done: ReadonlySet<number>, map: ColumnMap) =>
  Object.fromEntries(
    Object.entries(object).map(([key, value]) =>
      mappedHeader(key, map) === "images" && Array.isArray(value)
        ? [key, value.filter((_, index) => !done.has(index))]
        : key === exportedColumn && typeof value === "string"
          ? [key, withPlaces(value, new Set())]
          : [key, value],
    ),
  );

/**
 * An object with its values as they are read: without invisible ends, by `--map-value`, and choices by their
 * own names; the object itself if nothing changes.
 */
function objectRead(
  object: Record<string, unknown>,
  values: ValueMap,
  orientations: ValueMap,
): Record<string, unknown> {
  const row = withChoice(valuesRead(withoutFormulas(withoutUnseen(object)), values), "sex");
  const { images } = row;
  if (!Array.isArray(images)) return row;
  const { [emptyColumns]: empty = [] } = row as Partial<FileRow>;
  if (images.length === 0) return { ...row, [emptyColumns]: [...empty, "images"] } as Record<string, unknown>;
  // Nearly every image is read as it is.
  let read: unknown[] = images;
  for (let index = 0; index < images.length; index++) {
    const image: unknown = images[index];
    if (!isObject(image)) continue;
    const own = withTrimmedUrl(withChoice(valuesRead(withoutNulls(image), orientations), "orientation"));
    if (own === image) continue;
    if (read === images) read = [...images];
    read[index] = own;
  }
  return read === images ? row : { ...row, images: read };
}

const cutFields = ["reference", "name", "sex"] as const;

/** An object whose words have no invisible ends; the object itself if nothing is cut. */
function withoutUnseen(object: Record<string, unknown>): Record<string | symbol, unknown> {
  let row: Record<string | symbol, unknown> = object;
  for (const field of cutFields) {
    const text = object[field];
    if (typeof text !== "string") continue;
    const cut = withoutUnseenEnds(text);
    // Spaces go as they are: the service keeps those of a name.
    if (cut === text || !hadUnseenEnds(text, cut)) continue;
    if (isExportedText(field, text, object)) continue;
    row = { ...row, [field]: cut, [uncutTexts]: { ...(row[uncutTexts] as object), [field]: text } };
  }
  return row;
}

/** An object with the texts of formulas such as ="00123"; the object itself if it has none. */
function withoutFormulas(object: Record<string, unknown>): Record<string, unknown> {
  let row = object;
  for (const field of judgedFields) {
    const value = object[field];
    const text = typeof value === "string" ? formulaText(value) : null;
    if (text !== null && !isExportedText(field, value as string, object)) row = { ...row, [field]: text };
  }
  return row;
}

/** The object with the position of its photos beside the fields of the service. */
function withPosition(object: Record<string, unknown>): Record<string, unknown> {
  if (!Object.hasOwn(object, positionColumn)) return object;
  const { [positionColumn]: position, ...row } = object as Record<string | symbol, unknown>;
  return { ...row, [photoPosition]: position } as Record<string, unknown>;
}

function withChoice(
  row: Record<string | symbol, unknown>,
  field: "sex" | "orientation",
): Record<string | symbol, unknown> {
  const value = row[field];
  const choice =
    typeof value === "string" ? sameValue(value, importVocabulary.listChoices(field)!) : undefined;
  return choice === undefined || choice === value ? row : { ...row, [field]: choice };
}

/** A field that is null has no value. */
function withoutNulls(image: Record<string, unknown>): Record<string, unknown> {
  for (const field in image)
    if (image[field] === null)
      return Object.fromEntries(Object.entries(image).filter(([, value]) => value !== null));
  return image;
}

/** An image with its URL as it would be read from a cell. */
function withTrimmedUrl(image: Record<string, unknown>): Record<string, unknown> {
  const { url } = image;
  const trimmed = typeof url === "string" ? withoutUnseenEnds(url) : url;
  return trimmed === url ? image : { ...image, url: trimmed };
}
