// One product of several rows (`--merge-rows`): a row per photo, size or color.

import { shortened } from "../../contract/did-you-mean.ts";
import { limits } from "../../contract/limits.ts";
import { lookOf } from "../../text.ts";
import {
  emptyColumns,
  type MergedContent,
  type MergeFault,
  photoColumns,
  photoPosition,
} from "../rows/row-form.ts";
import { hasValue } from "../rows/row-parts.ts";
import type { InputImage } from "./file-row.ts";
import { spelled } from "./references.ts";

type Content = Record<string | symbol, unknown>;

/** Fields that the rows of a product have in common; references may only look equal. */
const common = ["reference", "name", "description", "sex"] as const;

/** The product of these rows: each field from the first that has it, and all photos by position, then row. */
export function mergeContents(rows: readonly object[]): MergedContent {
  const contents = rows as readonly Content[];
  const content: Content = {};
  for (const row of contents)
    for (const [field, value] of Object.entries(row))
      if (!(field in content) || (!hasValue(content[field]) && hasValue(value))) content[field] = value;
  const faults = [...contradictions(contents), ...positionFaults(contents)];
  const photos = new MergedPhotos();
  const images = contents.map((): readonly number[] => []);
  for (const index of inOrder(contents)) images[index] = photos.add(contents[index]!);
  const named = contents.filter((row) => row.images !== undefined);
  // Anything but a list is a problem of the row.
  const other = named.find((row) => !Array.isArray(row.images));
  if (named.length > 0) content.images = other === undefined ? photos.images : other.images;
  const known = contents.flatMap((row) => (row[photoColumns] as string[] | undefined) ?? []);
  const empty = contents.flatMap((row) => (row[emptyColumns] as string[] | undefined) ?? []);
  const isEmpty = (column: string) =>
    column.startsWith("image") ? !photos.columns.includes(column) : !hasValue(content[column]);
  if (contents.some((row) => row[photoColumns] !== undefined)) content[photoColumns] = photos.columns;
  const left = [...new Set([...empty, ...known])].filter(isEmpty);
  if (left.length > 0 || contents.some((row) => row[emptyColumns] !== undefined))
    content[emptyColumns] = left;
  const isTooMuch = photos.images.length > limits.imagesPerProduct.max;
  return { content, images, faults, isTooMuch };
}

/** The photos of all rows: a list as in the column `images`, in which each source is once. */
class MergedPhotos {
  readonly images: unknown[] = [];
  readonly columns: string[] = [];
  readonly #sources = new Map<string, number>();

  /** Adds the photos of a row; returns where each of them is. */
  add({ images, [photoColumns]: columns }: Content): readonly number[] {
    if (!Array.isArray(images)) return [];
    return images.map((image: unknown, index) => {
      const column = this.#freeColumn((columns as string[] | undefined)?.[index] ?? "images");
      const source = sourceOf(image);
      const at = source === null ? undefined : this.#sources.get(source);
      const orientation = source === null ? undefined : (image as InputImage).orientation;
      const earlier = at === undefined ? undefined : (this.images[at] as InputImage).orientation;
      if (at !== undefined && earlier === undefined && orientation !== undefined) {
        this.images[at] = image;
        this.columns[at] = column;
      }
      if (at !== undefined && (earlier === undefined || orientation === undefined || earlier === orientation))
        return at;
      if (source !== null) this.#sources.set(source, this.images.length);
      this.columns.push(column);
      return this.images.push(image) - 1;
    });
  }

  /** A side has one photo; any other column is an entry of the list, in which none is replaced. */
  #freeColumn(column: string): string {
    return /^image_\d+$/.test(column) || this.columns.includes(column) ? "images" : column;
  }
}

/** The identity of a photo; null for anything else. */
function sourceOf(image: unknown): string | null {
  if (typeof image !== "object" || image === null) return null;
  const { url, image_id, path } = image as Partial<InputImage>;
  const source = url ?? image_id ?? path;
  return typeof source === "string" ? source : null;
}

function contradictions(contents: readonly Content[]): MergeFault[] {
  if (contents.length === 1) return [];
  return common.flatMap((field) => {
    const first = contents.findIndex((row) => hasValue(row[field]));
    if (first === -1) return [];
    const value = compared(field, contents[first]!);
    return contents.flatMap((row, index) => {
      if (!hasValue(row[field]) || compared(field, row) === value) return [];
      const [own, other] = [row, contents[first]!].map((one) => shown(field, String(one[field]).trim()));
      const message = `${field} ${own} contradicts ${other}`;
      return [{ row: index, first, param: field, code: "contradicting_rows", message }];
    });
  });
}

/** Texts that look equal are one, except references: those are two products. */
function compared(field: string, row: Content): string {
  const text = String(row[field]).trim();
  if (field === "reference") return text;
  return field === "sex" ? text.toLowerCase() : lookOf(text);
}

const shown = (field: string, text: string): string =>
  field === "reference" ? spelled(text) : shortened(text);

const positionOf = (row: Content): number =>
  hasValue(row[photoPosition]) ? Number(row[photoPosition]) : Number.POSITIVE_INFINITY;

function positionFaults(contents: readonly Content[]): MergeFault[] {
  return contents.flatMap((row, index) =>
    Number.isNaN(positionOf(row))
      ? [
          {
            row: index,
            param: "position",
            code: "invalid_row",
            message: `position must be a number: ${shortened(String(row[photoPosition]))}`,
          },
        ]
      : [],
  );
}

/** The rows by their positions; those without one come last. */
function inOrder(contents: readonly Content[]): readonly number[] {
  const indexes = [...contents.keys()];
  const positions = contents.map(positionOf);
  if (positions.every((position) => position === Number.POSITIVE_INFINITY)) return indexes;
  return indexes.sort((a, b) => {
    const [one, other] = [positions[a]!, positions[b]!];
    return one === other ? a - b : one - other || 0;
  });
}
