import { sameValue } from "../../contract/did-you-mean.ts";
import { ulidPattern } from "../../contract/limits.ts";
import { orientations, sexes } from "../../contract/value-sets.ts";
import { hadUnseenEnds, withoutUnseenEnds } from "../../text.ts";
import { unguardedCell } from "../outputs/formulas.ts";
import { formulaText } from "../rows/formula-text.ts";
import { noValues, type ValueMap, valueRead, valuesOfColumn } from "../rows/mapped-columns.ts";
import {
  type CellProblem,
  emptyColumns,
  photoColumns,
  photoPosition,
  type RowColumns,
  uncutTexts,
  withoutHeader,
} from "../rows/row-form.ts";
import { type ImportColumn, importVocabulary } from "./columns.ts";
import { type InputImage, orientationOfName } from "./file-row.ts";
import { isExportedText, placeOfColumn, withPlaces } from "./said.ts";
import { severalPhotos } from "./url-problems.ts";

export interface ImageCell {
  column: number;
  /** Its place within an `images` cell; 0 in a cell for one image. */
  part: number;
  orientationColumn: number | null;
}

/** Turns records into rows by the columns of the header, and image indexes of a row back into cells. */
export class CsvCells implements RowColumns {
  readonly names: readonly (string | null)[];
  readonly referenceColumn: number;
  readonly #columns: readonly ImportColumn[];
  readonly #header: readonly string[];
  /** Columns with one image per cell. */
  readonly #imageColumns: readonly number[];
  readonly #orientations: readonly (number | null)[];
  /** Columns without a header (null), and orientation columns with the column of their image. */
  readonly #doubtful: readonly (readonly [column: number, imageColumn: number | null])[];

  /** Other readings of cells, by column; few columns have any. */
  readonly #values: readonly (ReadonlyMap<string, string> | undefined)[];
  #divided: { readonly record: readonly string[]; readonly cells: readonly ImageCell[] } | null = null;

  /** `header`: as it is in the file. `values`: a column's own win over those of its field. */
  constructor(columns: readonly ImportColumn[], header: readonly string[], values: ValueMap = noValues) {
    this.#columns = columns;
    this.#values = columns.map(({ name }, index) =>
      valuesOfColumn(header[index]!, name, values, importVocabulary),
    );
    this.#header = header;
    this.names = columns.map(({ name }) => name);
    this.referenceColumn = this.names.indexOf("reference");
    this.#imageColumns = columns.flatMap(({ kind }, index) => (kind === "image" ? [index] : []));
    this.#orientations = columns.map((column) => {
      if (column.kind !== "image" || column.number === undefined) return null;
      const at = columns.findIndex((other) => other.kind === "orientation" && other.number === column.number);
      return at === -1 ? null : at;
    });
    const imageColumns = new Map(this.#orientations.map((orientation, index) => [orientation, index]));
    this.#doubtful = columns.flatMap((column, index): (readonly [number, number | null])[] => {
      if (column.kind === "ignored" && column.header === "") return [[index, null]];
      const imageColumn = imageColumns.get(index);
      return column.kind === "orientation" && imageColumn !== undefined ? [[index, imageColumn]] : [];
    });
  }

  /** Makes the row: trims cells (except descriptions) and skips empty ones. */
  toRow(record: readonly string[]): Record<string | symbol, unknown> {
    const row: Record<string | symbol, unknown> = {};
    const images: InputImage[] = [];
    const places: string[] = [];
    const empty: string[] = [];
    let uncut: Record<string, string> | undefined;
    for (let index = 0; index < this.#columns.length; index++) {
      const column = this.#columns[index]!;
      const cell = record[index]!;
      if (column.kind === "field") {
        const { field, name } = column;
        const own = cutText(field, cell);
        if (hadUnseenEnds(cell, own)) uncut = { ...uncut, [field]: cell };
        const read = this.#fieldOf(field, own, index);
        if (withoutUnseenEnds(read) === "") empty.push(name);
        else row[field] = read;
      } else if (column.kind === "image" || column.kind === "images") {
        const sources = photosIn(column, cell);
        if (sources.length === 0) empty.push(column.name);
        for (const source of sources) {
          images.push(this.#image(source, column.orientation ?? this.#orientation(record, index)));
          places.push(column.name);
        }
      } else if (column.kind === "exported" || column.kind === "position") {
        if (cell.trim() !== "") row[column.kind === "position" ? photoPosition : column.name] = cell.trim();
      }
    }
    row.images = images;
    row[photoColumns] = places;
    row[emptyColumns] = empty;
    if (uncut !== undefined) row[uncutTexts] = restoreExported(uncut, row);
    return row;
  }

  #fieldOf(field: string, own: string, index: number): string {
    const value = unguardedCell(own);
    const read = valueRead(field === "description" ? value : value.trim(), this.#values[index]);
    return field === "sex" ? (sameValue(read, sexes) ?? read) : read;
  }

  /** The cell of each image of `toRow(record)`, in the same order. */
  imageCells(record: readonly string[]): readonly ImageCell[] {
    // Each problem of a row asks again.
    if (this.#divided?.record !== record) this.#divided = { record, cells: this.#divide(record) };
    return this.#divided.cells;
  }

  #divide(record: readonly string[]): ImageCell[] {
    return this.#columns.flatMap((column, index) =>
      photosIn(column, record[index]!).map((_, part) => ({
        column: index,
        part,
        orientationColumn: this.#orientations[index]!,
      })),
    );
  }

  /** A cell without a place in the row: under an empty header, or an orientation without an image. */
  strayCell(record: readonly string[]): { column: number; message: string } | null {
    for (const [column, imageColumn] of this.#doubtful) {
      if (record[column]!.trim() === "") continue;
      if (imageColumn === null) return { column, message: withoutHeader };
      if (record[imageColumn]!.trim() === "") return { column, message: "this orientation has no image" };
    }
    return null;
  }

  cellProblems(record: readonly string[]): readonly CellProblem[] {
    let duplicates = none;
    for (const column of this.#imageColumns) {
      // A record may have too few cells.
      const cell = record[column] ?? "";
      if (cell.includes("|") && areImages(imageParts(cell)))
        duplicates = [...duplicates, this.#severalImages(column, cell)];
    }
    return duplicates;
  }

  columnOfPath(path: string, record: readonly string[]): number | null {
    const [, index, part] = /^images\[(\d+)\](?:\.(\w+))?$/.exec(path) ?? [];
    if (index === undefined) return null;
    const cell = this.imageCells(record)[Number(index)]!;
    return part === "orientation" ? (cell.orientationColumn ?? cell.column) : cell.column;
  }

  withoutDone(record: readonly string[], done: ReadonlySet<number>): readonly string[] {
    const cells = [...record];
    const keptParts = new Map<number, string[]>();
    this.imageCells(record).forEach((cell, index) => {
      const kept = keptParts.get(cell.column) ?? [];
      if (!done.has(index)) kept.push(imageParts(record[cell.column]!)[cell.part] ?? record[cell.column]!);
      else if (cell.orientationColumn !== null) cells[cell.orientationColumn] = "";
      keptParts.set(cell.column, kept);
    });
    for (const [column, parts] of keptParts) cells[column] = parts.join("|");
    const isLeft = (index: number) => keptParts.has(index) && cells[index] !== "";
    const places = this.#columns.flatMap((column, index) =>
      column.kind === "image" && isLeft(index) ? (placeOfColumn(column.name) ?? []) : [],
    );
    const exported = this.#columns.findIndex(({ kind }) => kind === "exported");
    if (exported !== -1) cells[exported] = withPlaces(cells[exported]!.trim(), new Set(places));
    return cells;
  }

  #severalImages(column: number, cell: string): CellProblem {
    const message = `${this.#header[column]!.trim()} ${severalPhotos(imageParts(cell).length)}`;
    return { column, code: "invalid_row", message };
  }

  #orientation(record: readonly string[], index: number): string | undefined {
    const at = this.#orientations[index];
    if (at === null || at === undefined) return undefined;
    const value = valueRead(withoutUnseenEnds(textOf(record[at]!)), this.#values[at]);
    return value === "" ? undefined : (sameValue(value, orientations) ?? value);
  }

  #image(source: string, given: string | undefined): InputImage {
    const image = parseImage(source);
    const orientation = given ?? (image.path === undefined ? undefined : orientationOfName(image.path));
    if (orientation !== undefined) image.orientation = orientation;
    return image;
  }
}

/** A description keeps its ends. */
const cutText = (field: string, cell: string): string =>
  field === "description" ? cell : withoutUnseenEnds(cell);

/** The sources of the photos that a cell names; none in a column of another kind. */
function photosIn({ kind }: ImportColumn, cell: string): readonly string[] {
  if (kind === "images") return imageParts(cell);
  const source = kind === "image" ? withoutUnseenEnds(textOf(cell)) : "";
  return source === "" ? noSources : [source];
}

const noSources: readonly string[] = [];

/** Restores the texts that were exported so in the row; returns those that stay cut. */
function restoreExported(uncut: Readonly<Record<string, string>>, row: Record<string | symbol, unknown>) {
  const cut: Record<string, string> = {};
  for (const [field, cell] of Object.entries(uncut)) {
    const text = unguardedCell(cell).trim();
    if (isExportedText(field, text, row)) row[field] = text;
    else cut[field] = cell;
  }
  return cut;
}

const imageParts = (cell: string): string[] =>
  textOf(cell)
    .split("|")
    .map(withoutUnseenEnds)
    .filter((part) => part !== "");

/** The text of a cell, also of a formula that is a text. */
const textOf = (cell: string): string => formulaText(cell.trim()) ?? cell;

const none: readonly CellProblem[] = [];

/** Paths and URL queries may contain a bar, so every part must have the form of an image. */
const areImages = (parts: readonly string[]): boolean =>
  parts.length > 1 && parts.every((part) => /^https?:\/\//i.test(part) || isImageId(part));

const isImageId = (source: string): boolean => source.length === 26 && ulidPattern.test(source);

/** The image that a cell names: a URL, an uploaded image, or else a local file. */
function parseImage(source: string): InputImage {
  if (looksLikeUrl(source)) return { url: source };
  return isImageId(source) ? { image_id: source } : { path: source };
}

/** Whether a cell looks like a URL of any scheme, valid or not; one letter before the colon is a drive. */
const looksLikeUrl = (source: string): boolean =>
  source.startsWith("https://") || /^[a-z][a-z0-9+.-]+:/i.test(source);
