// What a row says, in digests: the form in which the ledger and the column as_exported keep what it said before.

import { type Orientation, orientations } from "../../contract/value-sets.ts";
import { emptyColumns, photoColumns } from "../rows/row-form.ts";
import { FieldDigests, type LedgerField, ledgerFields, sourceDigestBytes } from "./digests.ts";
import { type FileRow, toFieldValues } from "./file-row.ts";

/** A photo of a row: where it is, its side, and the digest of its source. */
export interface SaidPhoto {
  /** A side for `image_front` and its like, a number for `image_2`, and "" for an entry of `images`. */
  readonly place: string;
  readonly side: string | undefined;
  /** 16 bytes; 6 of them in the column as_exported. */
  readonly source: Buffer;
}

/** What a row says. */
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

  constructor(row: FileRow, digests: readonly Buffer[]) {
    const { [emptyColumns]: empty = [], [photoColumns]: columns } = row;
    const photos = row.images.map(({ orientation }, index) => ({
      place: placeOfColumn(columns?.[index] ?? "images") ?? "",
      side: orientation,
      source: digests[index]!,
    }));
    const emptyPlaces = empty.flatMap((column) => placeOfColumn(column) ?? []);
    this.#empty = new Set([...empty.filter(isField), ...emptyPlaces]);
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

  /** The fields whose cells are empty. */
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

/** What a row said, of the photos in these places alone; entries of `images` have no place of their own. */
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

/** What was packed. */
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
