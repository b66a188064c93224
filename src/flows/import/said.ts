// The content of a row in digests, as the ledger and the column as_exported keep it for the next import.

import { canonicalReference } from "../../contract/import-row.ts";
import { type Orientation, orientations } from "../../contract/value-sets.ts";
import type { RowFailure } from "../outputs/row-outcome.ts";
import { emptyColumns, photoColumns } from "../rows/row-form.ts";
import { shortDigest } from "../short-digest.ts";
import {
  FieldDigests,
  type LedgerField,
  ledgerFields,
  type RejectedPhoto,
  sourceDigest,
  sourceDigestBytes,
} from "./digests.ts";
import { type FileImage, type FileRow, toFieldValues } from "./file-row.ts";

/** A photo of a row: where it is, its side, and the digest of its source. */
export interface SaidPhoto {
  /** A side for `image_front` and its like, a number for `image_2`, and "" for an entry of `images`. */
  readonly place: string;
  readonly side: string | undefined;
  /** 16 bytes; 6 of them in the column as_exported. */
  readonly source: Buffer;
}

export interface Said {
  /** A field without a column is unknown; an empty cell is null. */
  readonly fields: FieldDigests;
  /** Null where the sheet has no photo column. */
  readonly photos: readonly SaidPhoto[] | null;
}

/** The place of a photo column; undefined for another column. */
export const placeOfColumn = (column: string): string | undefined =>
  column === "images" ? "" : column.startsWith("image_") ? column.slice("image_".length) : undefined;

const isField = (column: string): column is LedgerField =>
  (ledgerFields as readonly string[]).includes(column);

/** A row of a file that was checked. `digests`: those of its photos, in order. */
export class RowCells {
  readonly said: Said;
  /** The places and fields whose cells are empty. */
  readonly #empty: ReadonlySet<string>;
  readonly #hasImages: boolean;
  readonly #emptyPlaces: readonly string[];

  constructor(row: FileRow, digests: readonly Buffer[]) {
    const { [emptyColumns]: empty = [], [photoColumns]: columns } = row;
    const photos = row.images.map(({ orientation }, index) => ({
      place: placeOfColumn(columns?.[index] ?? "images") ?? "",
      side: orientation,
      source: digests[index]!,
    }));
    const emptyPlaces = empty.flatMap((column) => placeOfColumn(column) ?? []);
    this.#empty = new Set([...empty.filter(isField), ...emptyPlaces]);
    this.#emptyPlaces = emptyPlaces;
    this.#hasImages = photos.some(({ place }) => place === "") || this.#empty.has("");
    const cleared = Object.fromEntries(empty.filter(isField).map((field) => [field, null]));
    this.said = {
      fields: FieldDigests.of({ ...cleared, ...toFieldValues(row) }),
      photos: photos.length === 0 && emptyPlaces.length === 0 ? null : photos,
    };
  }

  /** Whether the file has the column of a place that has no photo in this row. */
  isEmptied(place: string): boolean {
    return place === "" ? this.#hasImages : this.#empty.has(place);
  }

  /** Whether the file has a column that an entry of `images` may come from, where rows were merged before. */
  mayHaveEntry(side: string | undefined): boolean {
    const places = [...(this.said.photos ?? []).map(({ place }) => place), ...this.#emptyPlaces];
    return places.some((place) => place === side || /^\d+$/.test(place));
  }

  get emptyFields(): readonly LedgerField[] {
    return ledgerFields.filter((field) => this.#empty.has(field));
  }
}

/** Whether two digests of sources are of one source, of which one may be shortened. */
export function isSameSource(a: Buffer, b: Buffer): boolean {
  const length = Math.min(a.length, b.length);
  return a.compare(b, 0, length, 0, length) === 0;
}

const firstSide = 100;

const placeByte = (place: string): number =>
  place === "" ? 0 : (orientations.indexOf(place as Orientation) + 1 || firstSide + Number(place)) & 0xff;

const placeOfByte = (byte: number): string =>
  byte === 0 ? "" : byte > firstSide ? String(byte - firstSide) : (orientations[byte - 1] ?? "");

/** The content with the photos in these places alone; entries of `images` have no place of their own. */
export const atPlaces = ({ fields, photos }: Said, places: ReadonlySet<string>): Said => ({
  fields,
  photos: photos?.filter(({ place }) => place !== "" && places.has(place)) ?? null,
});

/** Packs what a row says; `sourceBytes` of each source. */
export function packSaid({ fields, photos }: Said, sourceBytes = sourceDigestBytes): Buffer {
  const packed = (photos ?? []).map(({ place, side, source }) =>
    Buffer.concat([
      Uint8Array.of(placeByte(place), orientations.indexOf(side as Orientation) + 1),
      source.subarray(0, sourceBytes),
    ]),
  );
  return Buffer.concat([fields.bytes, Uint8Array.of(photos === null ? 0 : 1), ...packed]);
}

const fieldBytes = FieldDigests.nothing.bytes.length;

export function unpackSaid(bytes: Buffer, sourceBytes = sourceDigestBytes): Said {
  const fields = new FieldDigests(bytes.subarray(0, fieldBytes));
  if (bytes[fieldBytes] !== 1) return { fields, photos: null };
  const photos: SaidPhoto[] = [];
  for (let at = fieldBytes + 1; at < bytes.length; at += 2 + sourceBytes)
    photos.push({
      place: placeOfByte(bytes[at]!),
      side: orientations[bytes[at + 1]! - 1],
      source: bytes.subarray(at + 2, at + 2 + sourceBytes),
    });
  return { fields, photos };
}

/** The column, or field of an object. Other programs hardly have one of this name. */
export const exportedColumn = "as_exported";

/** Begins with letters, so that no spreadsheet takes it for a number, a date or a formula. */
const prefix = "cat2";
/** Of earlier versions: it knows neither the place nor the side of a photo. */
const earlierPrefix = "cat1";

const shortBytes = 6;
const idBytes = 26;

const toCheck = (text: string, rest: Buffer): Buffer =>
  shortDigest(`${text} ${rest.toString("hex")}`, shortBytes);

/** A row of an exported sheet: its cells, and where each photo is. */
export interface ExportedCells extends Pick<FileRow, "reference" | "name" | "description" | "sex"> {
  readonly photos: readonly (Pick<SaidPhoto, "place" | "side"> & { readonly image_id: string })[];
}

/** The meaning of a value: the row was exported of this product, under this reference. */
export interface ExportedRow {
  /** The ID of the product; null for a value of an earlier version, which has a digest of it. */
  readonly productId: string | null;
  readonly isOf: (productId: string) => boolean;
  /** Whether the row has the reference that it was exported with. */
  readonly hasReference: boolean;
  readonly said: Said;
}

export function exportedValue(productId: string, { reference, photos, ...fields }: ExportedCells): string {
  const { name, description = null, sex = null } = fields;
  const said = packSaid(
    {
      fields: FieldDigests.of({ name, description, sex }),
      photos: photos.map(({ place, side, image_id }) => ({
        place,
        side,
        source: sourceDigest({ image_id }),
      })),
    },
    shortBytes,
  );
  const named = shortDigest(canonicalReference(reference), shortBytes);
  const rest = Buffer.concat([named, Buffer.from(productId, "latin1"), said]);
  return prefix + Buffer.concat([toCheck(prefix, rest), rest]).toString("base64url");
}

/** Reads a value; null for one that is damaged, or was never exported. */
export function readExported(value: unknown, reference: string): ExportedRow | null {
  if (typeof value !== "string") return null;
  const bytes = Buffer.from(value.slice(prefix.length), "base64url");
  const [check, rest] = [bytes.subarray(0, shortBytes), bytes.subarray(shortBytes)];
  const name = canonicalReference(reference);
  if (value.startsWith(earlierPrefix)) return toCheck(name, rest).equals(check) ? readEarlier(rest) : null;
  if (!value.startsWith(prefix) || !toCheck(prefix, rest).equals(check)) return null;
  const productId = rest.subarray(shortBytes, shortBytes + idBytes).toString("latin1");
  return {
    productId,
    isOf: (id) => id === productId,
    hasReference: shortDigest(name, shortBytes).equals(rest.subarray(0, shortBytes)),
    said: unpackSaid(rest.subarray(shortBytes + idBytes), shortBytes),
  };
}

/** Whether a row was exported with this reference: so it is at the service, whatever it looks like. */
export const isExportedAs = (reference: string, exported: unknown): boolean =>
  exported !== undefined && readExported(exported, reference)?.hasReference === true;

/** Whether a text was exported as this field of a row, and so is not to be cut. */
export function isExportedText(field: string, text: string, row: Readonly<Partial<FileRow>>): boolean {
  const exported = row[exportedColumn];
  if (exported === undefined || field === "reference") return isExportedAs(text, exported);
  const before = field === "name" ? readExported(exported, row.reference ?? "") : null;
  return before?.said.fields.agrees("name", FieldDigests.of({ name: text })) === true;
}

/** A value for a failed file's row without photos of cells it lost, not emptied; empty for an old value. */
export function withPlaces(value: string, places: ReadonlySet<string>): string {
  if (!value.startsWith(prefix)) return "";
  const rest = Buffer.from(value.slice(prefix.length), "base64url").subarray(shortBytes);
  const start = shortBytes + idBytes;
  const left = atPlaces(unpackSaid(rest.subarray(start), shortBytes), places);
  const own = Buffer.concat([rest.subarray(0, start), packSaid(left, shortBytes)]);
  return prefix + Buffer.concat([toCheck(prefix, own), own]).toString("base64url");
}

function readEarlier(rest: Buffer): ExportedRow {
  const id = rest.subarray(0, shortBytes);
  const fieldsEnd = shortBytes + fieldBytes;
  const photos: SaidPhoto[] = [];
  for (let at = fieldsEnd; at < rest.length; at += shortBytes)
    photos.push({ place: "", side: undefined, source: rest.subarray(at, at + shortBytes) });
  return {
    productId: null,
    isOf: (productId) => shortDigest(`product ${productId}`, shortBytes).equals(id),
    hasReference: true,
    said: { fields: new FieldDigests(rest.subarray(shortBytes, fieldsEnd)), photos },
  };
}

/** A row with the data for the decision about it. */
export interface RowWithDigests {
  readonly content: FileRow;
  /** The digests of its photos, in order. */
  readonly digests: readonly Buffer[];
  readonly rejected: readonly RejectedPhoto[];
  readonly cells: RowCells;
}

/**
 * The row with the digests of its photos, and those rejected. `contentDigest`: the SHA-256 (hex) of the photo
 * at a path; `findRefusal`: why the service rejected the upload of these bytes, if it did.
 */
export async function withDigests(
  content: FileRow,
  contentDigest: (path: string) => Promise<string>,
  findRejection: (sha256: string) => RowFailure | undefined,
): Promise<RowWithDigests> {
  const digests: Buffer[] = [];
  const rejected: RejectedPhoto[] = [];
  for (const [index, image] of content.images.entries()) {
    if (image.path === undefined) {
      digests.push(sourceDigest(image as { url: string }));
      continue;
    }
    const sha256 = await contentDigest(image.path);
    digests.push(sourceDigest({ sha256 }));
    const why = findRejection(sha256);
    if (why !== undefined) rejected.push({ ...placed(image, index), ...why });
  }
  return { content, digests, rejected, cells: new RowCells(content, digests) };
}

/** The source and orientation of an image in the row, and its place. */
export const placed = (
  { url, image_id, path, orientation = "unlabeled" }: FileImage,
  image: number,
): Pick<RejectedPhoto, "image" | "source" | "orientation"> => ({
  image,
  source: url ?? image_id ?? path!,
  orientation,
});

/** The reference of a row, as the service compares it. */
export const referenceOfRow = (content: FileRow): string => canonicalReference(content.reference);

/** Whether a row says something else than before. A column that either has not is no edit. */
export function isEdited(now: Said, before: Said): boolean {
  for (const field of ledgerFields)
    if (now.fields.knows(field) && before.fields.knows(field) && !now.fields.agrees(field, before.fields))
      return true;
  if (now.photos === null || before.photos === null) return now.photos !== null && now.photos.length > 0;
  const isIn = (photo: Said["photos"], all: NonNullable<Said["photos"]>) =>
    (photo ?? []).every(({ side, source }) =>
      all.some((one) => isSameSource(one.source, source) && (side === one.side || side === undefined)),
    );
  return !isIn(now.photos, before.photos) || !isIn(before.photos, now.photos);
}
