// The problems of a row of an import file, and what is noted about a valid one.

import { didYouMean } from "../../contract/did-you-mean.ts";
import { wordsForOrientations, wordsForSexes } from "../../contract/other-words.ts";
import { isObject } from "../../json.ts";
import type { LocalPhotos } from "../photos/local-photos.ts";
import { type PhotoProblem, repeatedPhotos } from "../photos/photo-file.ts";
import type { PhotoUrls } from "../photos/photo-urls.ts";
import { DamageFinder, type JudgedField, type JudgedKind } from "../rows/damage.ts";
import type { FieldNote } from "../rows/notes.ts";
import { emptyColumns, type FieldProblem, type MergedContent, uncutTexts } from "../rows/row-form.ts";
import { UrlNotes } from "../rows/url-notes.ts";
import type { AddedPhotos } from "./added-photos.ts";
import { importVocabulary } from "./columns.ts";
import { FieldDigests } from "./digests.ts";
import { type FileRow, inputRowProblems, listLocalImages, toFieldValues } from "./file-row.ts";
import { mergeContents } from "./merge-contents.ts";
import { hasPlainPhotos, photoNotes, urlChecks, urlNotesOf } from "./photo-checks.ts";
import { readReference, referenceProblems } from "./references.ts";
import { exportedColumn, isExportedAs, readExported } from "./said.ts";
import { damagedUrl, withUrlProblems } from "./url-problems.ts";

/** The check of local photos. */
export type FilePhotos = Pick<LocalPhotos, "problems" | "stopConverting" | "oddity" | "sizeOf" | "digest">;

export interface CheckOptions {
  /** Checks the photos behind URLs. */
  readonly urls?: PhotoUrls | undefined;
  /** A row is invalid in a sheet without photo columns, or if its photos were emptied since its export. */
  readonly needsPhotos?: boolean;
  /** The fields that are looked at for damage (all by default). */
  readonly judged?: JudgedKind | undefined;
}

interface RowCheckOptions extends CheckOptions {
  readonly photos: FilePhotos | undefined;
  readonly whyNone: AddedPhotos["whyNone"] | undefined;
}

export class RowChecks {
  readonly damage: DamageFinder;
  readonly #options: RowCheckOptions;
  readonly #urlNotes = new UrlNotes();
  /** Rows with photos that need another look: a million rows are not looked at again for their notes. */
  readonly #odd = new WeakSet<object>();
  /** Products of a folder with a photo whose name was read wrong. */
  readonly #misread = new WeakSet<object>();

  constructor(options: RowCheckOptions) {
    this.#options = options;
    this.damage = new DamageFinder(options.judged);
  }

  problems(read: unknown): readonly FieldProblem[] | Promise<readonly FieldProblem[]> {
    const { photos, urls } = this.#options;
    const exported = exportedOf(read);
    const row = exported === undefined ? read : withoutExported(read as object);
    const { isPlain, lost } = this.#judge(read, row);
    const problems = this.#ownProblems(read, row, isPlain, lost);
    const images = photos === undefined || isPlain ? none : listLocalImages(row);
    const checks = urls === undefined ? none : urlChecks(row, urls);
    if (images.length === 0 && checks.length === 0) return problems;
    return Promise.all([photos!.problems(images), Promise.all(checks)]).then(([faults, found]) => {
      // Its reference and name are those of the file, and are right once the file is renamed.
      const isMisread = faults.some(({ code }) => code === "misread_name");
      if (isMisread && isObject(read)) this.#misread.add(read);
      return [
        ...(isMisread ? problems.filter(({ code }) => code !== "lost_characters") : problems),
        ...faults.map((fault) => photoProblem(fault, row)),
        ...found.flat(),
      ];
    });
  }

  /** The problems that are found without a look at photos. */
  #ownProblems(read: unknown, row: unknown, isPlain: boolean, lost: readonly FieldProblem[]) {
    const { whyNone, needsPhotos } = this.#options;
    const exported = exportedOf(read);
    const repeated = repeatedPhotos(row);
    const mayLackPhotos = !needsPhotos && (exported !== undefined || hasNoPhotoColumn(row));
    const ofService = inputRowProblems(mayLackPhotos ? withAnyPhoto(row) : row, isPlain);
    const found = isPlain && ofService.length === 0 ? ofService : withUrlProblems(ofService, row);
    const ofExport = exportedProblems(exported, row);
    const ofReference = referenceProblems(read);
    const count = found.length + ofExport.length + ofReference.length + lost.length + repeated.length;
    // Nearly every row is valid.
    if (count === 0) return none;
    const explained = (problem: FieldProblem) => withReason(withValueFix(problem, row), row, whyNone);
    return [...[...found, ...ofExport, ...ofReference].map(explained), ...lost, ...repeated];
  }

  notes(row: unknown): readonly FieldNote[] {
    const { photos, urls } = this.#options;
    const notes = this.#misread.has(row as object) ? none : this.damage.of(row).notes;
    const uncut = (row as Partial<FileRow> | null)?.[uncutTexts];
    const isPlain = urls === undefined && !this.#odd.has(row as object);
    // Nearly every row has none.
    if (isPlain && uncut === undefined) return notes;
    return [
      ...notes,
      ...(isPlain ? none : urlNotesOf(row, this.#urlNotes)),
      ...(isPlain || photos === undefined ? none : photoNotes(row, photos, urls)),
      ...Object.entries(uncut ?? {}).map(
        ([param, value]) => ({ code: "unseen_ends", param, value }) as const,
      ),
    ];
  }

  /** The product of these rows, which are judged for their notes. */
  merge(contents: readonly object[]): MergedContent {
    for (const content of contents) this.#judge(content, content);
    return mergeContents(contents);
  }

  /** Whether another row with this reference may be another product. */
  hasDoubtfulReference(row: object): boolean {
    const reference = readReference(row);
    return (
      reference !== undefined &&
      this.damage.isDoubtful(reference) &&
      !isExportedAs(reference, exportedOf(row))
    );
  }

  #judge(read: unknown, row: unknown) {
    const exported = exportedOf(read);
    const isPlain = hasPlainPhotos(row, this.#urlNotes);
    if (!isPlain && isObject(read)) this.#odd.add(read);
    const { problems } = this.damage.judge(read, (field) => isAsExported(field, exported, row));
    return { isPlain, lost: problems };
  }
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
const meantChoices = (field: "sex" | "orientation", value: string): readonly string[] =>
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
