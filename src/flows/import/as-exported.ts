// The column of an exported sheet that says what the cells of a row were: the before of a row on any machine.

import { canonicalReference } from "../../contract/import-row.ts";
import { shortDigest } from "../short-digest.ts";
import { FieldDigests, sourceDigest } from "./digests.ts";
import type { FileRow } from "./file-row.ts";
import { atPlaces, packSaid, type Said, type SaidPhoto, unpackSaid } from "./said.ts";

/** The column, or field of an object. Other programs hardly have one of this name. */
export const exportedColumn = "as_exported";

/** Begins with letters, so that no spreadsheet takes it for a number, a date or a formula. */
const prefix = "cat2";
/** Of earlier versions: it knows neither the place nor the side of a photo. */
const earlierPrefix = "cat1";

const shortBytes = 6;
const idBytes = 26;
const fieldBytes = FieldDigests.nothing.bytes.length;

const toCheck = (text: string, rest: Buffer): Buffer =>
  shortDigest(`${text} ${rest.toString("hex")}`, shortBytes);

/** A row of an exported sheet: its cells, and where each photo is. */
export interface ExportedCells extends Pick<FileRow, "reference" | "name" | "description" | "sex"> {
  readonly photos: readonly (Pick<SaidPhoto, "place" | "side"> & { readonly image_id: string })[];
}

/** What a value says: the row was exported of this product, under this reference. */
export interface Exported {
  /** The ID of the product; null for a value of an earlier version, which has a digest of it. */
  readonly productId: string | null;
  readonly isOf: (productId: string) => boolean;
  /** Whether the row has the reference that it was exported with. */
  readonly hasReference: boolean;
  readonly said: Said;
}

/** The value of a row. */
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

/** What a value says; null for one that is damaged, or was never exported. */
export function readExported(value: unknown, reference: string): Exported | null {
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

/**
 * A value without the photos of other places, for a row of a failed file that has lost its cells: they were not emptied by the
 * user. Empty for a value of an earlier version.
 */
export function withPlaces(value: string, places: ReadonlySet<string>): string {
  if (!value.startsWith(prefix)) return "";
  const rest = Buffer.from(value.slice(prefix.length), "base64url").subarray(shortBytes);
  const start = shortBytes + idBytes;
  const left = atPlaces(unpackSaid(rest.subarray(start), shortBytes), places);
  const own = Buffer.concat([rest.subarray(0, start), packSaid(left, shortBytes)]);
  return prefix + Buffer.concat([toCheck(prefix, own), own]).toString("base64url");
}

function readEarlier(rest: Buffer): Exported {
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
