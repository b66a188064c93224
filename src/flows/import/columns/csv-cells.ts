import { ulidPattern } from "../../../contract/ids.ts";
import type { Column } from "./csv-columns.ts";
import { type InputImage, orientationOfName } from "./local-images.ts";

/** Where an image of a row stands in its record. */
export interface ImageCell {
  column: number;
  /** Its place among the parts of an `images` cell; 0 in a cell of one image. */
  part: number;
  /** The column of its orientation, where it has one. */
  orientationColumn: number | null;
}

/** Turns records into rows by a header's columns, and image indexes of a row back into cells. */
export class CsvCells {
  readonly #columns: readonly Column[];
  /** Those of one image a cell. */
  readonly #imageColumns: readonly number[];
  readonly #orientationOf: readonly (number | null)[];
  /** Columns without a header (null), and columns of orientations with the column of their image. */
  readonly #doubtful: readonly (readonly [column: number, imageColumn: number | null])[];

  constructor(columns: readonly Column[]) {
    this.#columns = columns;
    this.#imageColumns = columns.flatMap(({ kind }, index) => (kind === "image" ? [index] : []));
    this.#orientationOf = columns.map((column) => {
      if (column.kind !== "image" || column.number === undefined) return null;
      const at = columns.findIndex((other) => other.kind === "orientation" && other.number === column.number);
      return at === -1 ? null : at;
    });
    const imageColumns = new Map(this.#orientationOf.map((orientation, index) => [orientation, index]));
    this.#doubtful = columns.flatMap((column, index): (readonly [number, number | null])[] => {
      if (column.kind === "ignored" && column.header === "") return [[index, null]];
      const imageColumn = imageColumns.get(index);
      return column.kind === "orientation" && imageColumn !== undefined ? [[index, imageColumn]] : [];
    });
  }

  /** The row: surrounding space of cells trimmed (a description stays as it is), empty cells left out. */
  toRow(record: readonly string[]): Record<string, unknown> {
    const row: Record<string, unknown> = {};
    const images: InputImage[] = [];
    for (let index = 0; index < this.#columns.length; index++) {
      const column = this.#columns[index]!;
      const cell = record[index]!;
      if (cell === "") continue;
      if (column.kind === "field") {
        const value = column.field === "description" ? cell : cell.trim();
        if (value.trim() !== "") row[column.field] = value;
      } else if (column.kind === "image") {
        const source = cell.trim();
        if (source !== "")
          images.push(this.#image(source, column.orientation ?? this.#orientation(record, index)));
      } else if (column.kind === "images") {
        for (const part of imageParts(cell)) images.push(this.#image(part, undefined));
      }
    }
    row.images = images;
    return row;
  }

  /** Where each image of `toRow(record)` came from, in the same order. */
  imageCells(record: readonly string[]): ImageCell[] {
    const cells: ImageCell[] = [];
    this.#columns.forEach((column, index) => {
      if (column.kind === "image" && record[index]!.trim() !== "") {
        cells.push({ column: index, part: 0, orientationColumn: this.#orientationOf[index]! });
      } else if (column.kind === "images") {
        const parts = imageParts(record[index]!);
        for (let part = 0; part < parts.length; part++)
          cells.push({ column: index, part, orientationColumn: null });
      }
    });
    return cells;
  }

  /** A cell whose content no row could keep: under no header, or the orientation of an image that is not there. */
  strayCell(record: readonly string[]): { column: number; message: string } | null {
    for (const [column, imageColumn] of this.#doubtful) {
      if (record[column]!.trim() === "") continue;
      if (imageColumn === null)
        return { column, message: "there is a value under a column that has no header" };
      if (record[imageColumn]!.trim() === "")
        return { column, message: "there is an orientation and no image for it" };
    }
    return null;
  }

  /** The columns of one image whose cells hold several: the bar parts images in `images` only. */
  cellsOfSeveralImages(record: readonly string[]): readonly number[] {
    let found = none;
    for (const column of this.#imageColumns)
      if (record[column]!.includes("|") && areImages(imageParts(record[column]!))) found = [...found, column];
    return found;
  }

  /** The column that holds a plain field, or -1. */
  columnOf(field: string): number {
    return this.#columns.findIndex((column) => column.kind === "field" && column.field === field);
  }

  #orientation(record: readonly string[], index: number): string | undefined {
    const at = this.#orientationOf[index];
    const value = at === null || at === undefined ? "" : record[at]!.trim();
    return value === "" ? undefined : value;
  }

  #image(source: string, given: string | undefined): InputImage {
    const image = imageOf(source);
    const orientation = given ?? (image.path === undefined ? undefined : orientationOfName(image.path));
    if (orientation !== undefined) image.orientation = orientation;
    return image;
  }
}

/** The images of an `images` cell. */
export const imageParts = (cell: string): string[] =>
  cell
    .split("|")
    .map((part) => part.trim())
    .filter((part) => part !== "");

const none: readonly number[] = [];

/** A path may have a bar, and so may the query of a URL: what follows it must be an image by its form. */
const areImages = (parts: readonly string[]): boolean =>
  parts.length > 1 && parts.every((part) => /^https?:\/\//i.test(part) || isImageId(part));

const isImageId = (source: string): boolean => source.length === 26 && ulidPattern.test(source);

/** What a cell names: a URL, an uploaded image, or else a file of this machine. */
function imageOf(source: string): InputImage {
  if (looksLikeUrl(source)) return { url: source };
  return isImageId(source) ? { image_id: source } : { path: source };
}

/** Whether a cell looks like a URL of any scheme, good or bad; one letter before the colon is a disk of Windows. */
const looksLikeUrl = (source: string): boolean =>
  source.startsWith("https://") || /^[a-z][a-z0-9+.-]+:/i.test(source);
