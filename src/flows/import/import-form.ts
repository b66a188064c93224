// Columns of an import file: their names, the row made from their cells, and the problems of a row.

import { didYouMean, sameValue, wordsForOrientations, wordsForSexes } from "../../contract/did-you-mean.ts";
import { isObject } from "../../json.ts";
import { hadUnseenEnds, withoutUnseenEnds } from "../../text.ts";
import type { LocalPhotos } from "../photos/local-photos.ts";
import { type PhotoProblem, repeatedPhotos } from "../photos/photo-file.ts";
import type { PhotoUrls } from "../photos/photo-urls.ts";
import { DamageFinder, type JudgedField, type JudgedKind, judgedFields } from "../rows/damage.ts";
import { formulaText } from "../rows/formula-text.ts";
import { type ColumnMap, mappedHeader, noValues, type ValueMap, valuesRead } from "../rows/mapped-columns.ts";
import type { FieldNote } from "../rows/notes.ts";
import {
  emptyColumns,
  type FieldProblem,
  photoPosition,
  type RowForm,
  uncutTexts,
} from "../rows/row-form.ts";
import { UrlNotes } from "../rows/url-notes.ts";
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
import { FieldDigests } from "./digests.ts";
import {
  type FileRow,
  inputRowProblems,
  listLocalImages,
  toFieldValues,
  withOrientations,
} from "./file-row.ts";
import { mergeContents } from "./merge-contents.ts";
import { hasPlainPhotos, photoNotes, urlChecks, urlNotesOf } from "./photo-checks.ts";
import { readReference, referenceProblems, uniqueReference } from "./references.ts";
import { exportedColumn, isExportedAs, isExportedText, readExported, withPlaces } from "./said.ts";
import { sharedPhotos } from "./shared-photos.ts";
import { damagedUrl, withUrlProblems } from "./url-problems.ts";

/**
 * The form of rows in an import file: the service's rows (Imports, Row fields), except that a photo may be a
 * local file. `map`, `values`: what `--map` and `--map-value` map. `photos`: checks local files; without it
 * only their paths are checked. `added`: photos that rows get in addition to those in the file.
 * `needsPhotos`: whether a row of a sheet without photo columns, or one whose photos were all emptied since
 * its export, is invalid. `judged`: fields that are looked at for damage (all by default).
 */
export const importForm = (
  map: ColumnMap,
  photos?: Pick<LocalPhotos, "problems" | "stopConverting" | "oddity" | "sizeOf" | "digest">,
  values: ValueMap = noValues,
  added?: Pick<AddedPhotos, "headers" | "cells" | "object" | "whyNone">,
  {
    needsPhotos = true,
    judged,
    urls,
  }: { needsPhotos?: boolean; judged?: JudgedKind; urls?: PhotoUrls | undefined } = {},
): RowForm => {
  const damage = new DamageFinder(judged);
  const orientations = new Map([...values].filter(([name]) => name === "orientation"));
  const urlNotes = new UrlNotes();
  /** Rows with photos that need another look: a million rows are not looked at again for their notes. */
  const odd = new WeakSet<object>();
  const judge = (read: unknown, row: unknown) => {
    const exported = exportedOf(read);
    const isPlain = hasPlainPhotos(row, urlNotes);
    if (!isPlain && isObject(read)) odd.add(read);
    return { isPlain, lost: damage.judge(read, (field) => isAsExported(field, exported, row)).problems };
  };
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
    problems(read) {
      const exported = exportedOf(read);
      const row = exported === undefined ? read : withoutExported(read as object);
      const { isPlain, lost } = judge(read, row);
      const repeated = repeatedPhotos(row);
      const mayLackPhotos = !needsPhotos && (exported !== undefined || hasNoPhotoColumn(row));
      const ofService = inputRowProblems(mayLackPhotos ? withAnyPhoto(row) : row, isPlain);
      const found = isPlain && ofService.length === 0 ? ofService : withUrlProblems(ofService, row);
      const ofExport = exportedProblems(exported, row);
      const ofReference = referenceProblems(read);
      const count = found.length + ofExport.length + ofReference.length + lost.length + repeated.length;
      const explained = (problem: FieldProblem) =>
        withReason(withValueFix(problem, row), row, added?.whyNone);
      // Nearly every row is valid.
      const problems =
        count === 0
          ? none
          : [...[...found, ...ofExport, ...ofReference].map(explained), ...lost, ...repeated];
      const images = photos === undefined || isPlain ? none : listLocalImages(row);
      const checks = urls === undefined ? none : urlChecks(row, urls);
      if (images.length === 0 && checks.length === 0) return problems;
      return Promise.all([photos!.problems(images), Promise.all(checks)]).then(([faults, found]) => [
        ...problems,
        ...faults.map((fault) => photoProblem(fault, row)),
        ...found.flat(),
      ]);
    },
    notes(row) {
      const { notes } = damage.of(row);
      const uncut = (row as Partial<FileRow> | null)?.[uncutTexts];
      const isPlain = urls === undefined && !odd.has(row as object);
      // Nearly every row has none.
      if (isPlain && uncut === undefined) return notes;
      return [
        ...notes,
        ...(isPlain ? none : urlNotesOf(row, urlNotes)),
        ...(isPlain || photos === undefined ? none : photoNotes(row, photos, urls)),
        ...(uncut === undefined ? none : notesOnEnds(uncut)),
      ];
    },
    ...(photos !== undefined && { notesAcrossRows: (random) => sharedPhotos(random, photos, urls) }),
    beyondLimit() {
      photos?.stopConverting();
      urls?.stop();
    },
    readReference,
    unique: {
      ...uniqueReference,
      // Of two references whose digits are lost, it is not known whether they were one.
      toKey: (row) => (damage.hasLost(row, "reference") ? undefined : uniqueReference.toKey(row)),
    },
    merge(contents) {
      const merged = mergeContents(contents);
      const lost = contents.flatMap((content, row) => {
        const ofReference = judge(content, content).lost.filter(({ param }) => param === "reference");
        // Those of the first row are problems of the product.
        return row === 0 ? [] : ofReference.map((problem) => ({ ...problem, row }));
      });
      return lost.length === 0 ? merged : { ...merged, faults: [...merged.faults, ...lost] };
    },
    withoutDone: (object, done) =>
      done.size === 0
        ? object
        : Object.fromEntries(
            Object.entries(object).map(([key, value]) =>
              mappedHeader(key, map) === "images" && Array.isArray(value)
                ? [key, value.filter((_, index) => !done.has(index))]
                : key === exportedColumn && typeof value === "string"
                  ? [key, withPlaces(value, new Set())]
                  : [key, value],
            ),
          ),
  };
};

const notesOnEnds = (uncut: Readonly<Record<string, string>>): readonly FieldNote[] =>
  Object.entries(uncut).map(([param, value]) => ({ code: "unseen_ends", param, value }));

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

/** Whether the file has no column, or the object no field, for photos. */
function hasNoPhotoColumn(row: unknown): boolean {
  const { images, [emptyColumns]: empty = [] } = row as Partial<FileRow>;
  const hasPhotos = Array.isArray(images) ? images.length > 0 : images !== undefined;
  return !hasPhotos && !empty.some((column) => column.startsWith("image"));
}

/** The row with a photo if it has none, so that it is no problem. */
function withAnyPhoto(row: unknown): unknown {
  const { images } = row as Partial<FileRow>;
  const hasNone = images === undefined || (Array.isArray(images) && images.length === 0);
  return hasNone ? { ...(row as object), images: [{ url: "https://example.com/a.jpg" }] } : row;
}

/** The problem of a row without photos, with the reason why it got none of the folder. */
function withReason(
  problem: FieldProblem,
  row: unknown,
  whyNone: AddedPhotos["whyNone"] | undefined,
): FieldProblem {
  const reference = readReference(row);
  if (problem.param !== "images" || whyNone === undefined || reference === undefined) return problem;
  const { images } = row as { images?: unknown };
  if (Array.isArray(images) && images.length > 0) return problem;
  return { ...problem, message: problem.message + whyNone(reference) };
}

/** The problem of a value that is not a choice, with the flag that reads it as one. */
function withValueFix(problem: FieldProblem, row: unknown): FieldProblem {
  const { param } = problem;
  const [, image] = /^images\[(\d+)\]\.orientation$/.exec(param ?? "") ?? [];
  if (param !== "sex" && image === undefined) return problem;
  const { sex, images } = row as { sex: unknown; images: { orientation: unknown }[] };
  const field = image === undefined ? "sex" : "orientation";
  const from = image === undefined ? sex : images[Number(image)]!.orientation;
  if (typeof from !== "string" || from.trim() === "" || from.length > longestValue) return problem;
  const [to, ...others] = meantChoices(field, from);
  return { ...problem, valueFix: { field, from, to: others.length === 0 ? to : undefined } };
}

/** A longer text is not a word for a choice. */
const longestValue = 60;

/** The choices that a value of `sex` or `orientation` probably means. */
export const meantChoices = (field: "sex" | "orientation", value: string): readonly string[] =>
  didYouMean(
    value,
    importVocabulary.listChoices(field)!,
    field === "sex" ? wordsForSexes : wordsForOrientations,
  );

const exportedOf = (row: unknown): unknown => (row as Partial<FileRow> | null | undefined)?.[exportedColumn];

function withoutExported({ [exportedColumn]: _, ...row }: Partial<FileRow>): object {
  return row;
}

/** Whether a field is as it was when the row was exported: so it is at the service. */
function isAsExported(field: JudgedField, exported: unknown, row: unknown): boolean {
  const reference = readReference(row) ?? "";
  if (field === "reference") return isExportedAs(reference, exported);
  const before = exported === undefined ? null : readExported(exported, reference);
  return before?.said.fields.agrees(field, FieldDigests.of(toFieldValues(row as FileRow))) === true;
}

/** The problem of a value that was exported for another row, or not at all. */
function exportedProblems(exported: unknown, row: unknown): readonly FieldProblem[] {
  const reference = readReference(row);
  if (
    exported === undefined ||
    exported === "" ||
    reference === undefined ||
    readExported(exported, reference) !== null
  )
    return [];
  const message = `${exportedColumn} is not a value that was exported: empty it, remove the column, or export again`;
  return [{ param: exportedColumn, code: "invalid_row", message }];
}

/** Nearly every row has none. */
const none: readonly never[] = [];

function photoProblem({ index, path, code, message }: PhotoProblem, row: unknown): FieldProblem {
  const param = `images[${index}].path`;
  const isUnknown = code === "photo_not_found" || (code === "photo_outside_root" && path.startsWith("//"));
  const damaged = isUnknown ? damagedUrl(path, row, index, message) : null;
  if (damaged !== null) return { param, code, message: `${param}: ${damaged}`, cellMessage: damaged };
  // The cell may be a mistyped URL instead of a path.
  const cellMessage =
    code === "photo_not_found"
      ? `${JSON.stringify(path)} is not a URL, an image ID or an existing file (${message})`
      : message;
  return { param, code, message: `${param}: ${message}`, cellMessage };
}
