// The column of an exported sheet that says what the cells of a row were: an import sends only those edited since.

import { canonicalReference } from "../../contract/import-row.ts";
import type { LedgerEntry } from "../../state/ledger.ts";
import { shortDigest } from "../short-digest.ts";
import { FieldDigests, ledgerFields, sourceDigest } from "./digests.ts";
import { type FileRow, toFieldValues } from "./file-row.ts";

/** The column, or field of an object. Other programs hardly have one of this name. */
export const exportedColumn = "as_exported";

/** Begins with letters, so that no spreadsheet takes it for a number, a date or a formula. */
const prefix = "cat1";

const shortBytes = 6;
const fieldBytes = FieldDigests.nothing.bytes.length;

const idDigest = (productId: string): Buffer => shortDigest(`product ${productId}`, shortBytes);
const photoDigest = (image_id: string): Buffer => sourceDigest({ image_id }).subarray(0, shortBytes);
const toCheck = (reference: string, rest: Buffer): Buffer =>
  shortDigest(`${canonicalReference(reference)} ${rest.toString("hex")}`, shortBytes);

type Cells = Pick<FileRow, "reference" | "name" | "description" | "sex"> & {
  readonly images: readonly { readonly image_id: string }[];
};

/** The value of a row: digests of its reference, of its product's ID, and of each field and photo. */
export function exportedValue(productId: string, { reference, images, ...fields }: Cells): string {
  const photos = images.map(({ image_id }) => photoDigest(image_id));
  const rest = Buffer.concat([idDigest(productId), FieldDigests.of(fields).bytes, ...photos]);
  return prefix + Buffer.concat([toCheck(reference, rest), rest]).toString("base64url");
}

/** What a value says; null for one that was not exported with this reference, or is damaged. */
function readExported(
  value: unknown,
  reference: string,
): { id: Buffer; fields: FieldDigests; photos: Buffer } | null {
  if (typeof value !== "string" || !value.startsWith(prefix)) return null;
  const bytes = Buffer.from(value.slice(prefix.length), "base64url");
  const rest = bytes.subarray(shortBytes);
  if (!toCheck(reference, rest).equals(bytes.subarray(0, shortBytes))) return null;
  const fieldsEnd = shortBytes + fieldBytes;
  return {
    id: rest.subarray(0, shortBytes),
    fields: new FieldDigests(rest.subarray(shortBytes, fieldsEnd)),
    photos: rest.subarray(fieldsEnd),
  };
}

/** Whether a value was exported with this reference. */
export const isExported = (value: unknown, reference: string): boolean =>
  readExported(value, reference) !== null;

/** The row without the cells that are as exported from this product: it keeps what others have made of them since. */
export function editedRow(row: FileRow, productId: string): FileRow {
  const exported = readExported(row.as_exported, row.reference);
  if (exported === null || !exported.id.equals(idDigest(productId))) return row;
  const photos = exported.photos.toString("hex");
  const isKept = (image_id: string) => {
    const digest = photoDigest(image_id).toString("hex");
    for (let at = 0; at < photos.length; at += digest.length) if (photos.startsWith(digest, at)) return true;
    return false;
  };
  const edited: FileRow = {
    ...row,
    images: row.images.map((image) =>
      image.image_id !== undefined && isKept(image.image_id) ? { ...image, isKept: true } : image,
    ),
  };
  const own = FieldDigests.of(toFieldValues(row));
  if (own.agrees("name", exported.fields)) edited.keepsName = true;
  for (const field of ["description", "sex"] as const)
    if (own.agrees(field, exported.fields)) delete edited[field];
  return edited;
}

/** Whether the product has another value in a field that is not edited. */
export function keepsOthers(row: FileRow, edited: FileRow, { fields }: Pick<LedgerEntry, "fields">): boolean {
  const known = new FieldDigests(fields);
  const [own, sent] = [FieldDigests.of(toFieldValues(row)), FieldDigests.of(toFieldValues(edited))];
  return ledgerFields.some(
    (field) => own.knows(field) && !sent.knows(field) && known.knows(field) && !known.agrees(field, own),
  );
}
