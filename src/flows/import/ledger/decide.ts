import { canonicalReference } from "../../../contract/import-row.ts";
import type { LedgerEntry } from "../../../state/ledger.ts";
import type { FileImage, FileRow } from "../file-row.ts";
import type { RowMemo } from "./call-memo.ts";
import { FieldDigests, type FieldValues, ledgerFields } from "./field-digests.ts";
import { holds, sourceDigest } from "./source-digests.ts";

/** What is to be done with one row of the file. */
export type Decision =
  /** It goes in a call, with these of its images. */
  | { kind: "send"; images: FileImage[]; memo: RowMemo }
  /** Its photos are all there, and only these fields differ: one PATCH. */
  | { kind: "patch"; productId: string; fields: FieldValues }
  | { kind: "unchanged"; productId: string }
  /** Its photos are all there; whether these fields differ is not known without a look at the product. */
  | { kind: "uncertain"; productId: string; fields: FieldValues };

/** A row and what the ledger keeps of such a one. `digests` are those of its images' sources. */
export interface Weighed {
  row: FileRow;
  digests: readonly Buffer[];
}

/**
 * What an upsert of the row would change at the service, less the photos that are there already. Without an entry, and
 * where the ledger is not asked (null), all of it is sent.
 */
export function decide({ row, digests }: Weighed, entry: LedgerEntry | null): Decision {
  const fields = FieldDigests.of(fieldsOf(row));
  const leftOut: number[] = [];
  const sent: { image: number; digest: Buffer }[] = [];
  digests.forEach((digest, image) => {
    if (entry !== null && holds(entry.sources, digest)) leftOut.push(image);
    else sent.push({ image, digest });
  });
  if (entry === null || sent.length > 0) {
    const images = sent.map(({ image }) => row.images[image]!);
    return { kind: "send", images, memo: { fields, sent, leftOut, refused: [] } };
  }
  const { productId } = entry;
  const known = new FieldDigests(entry.fields);
  const present = ledgerFields.filter((field) => fields.knows(field));
  const values = fieldsOf(row);
  if (present.some((field) => !known.knows(field))) return { kind: "uncertain", productId, fields: values };
  const changed = present.filter((field) => !known.agrees(field, fields));
  if (changed.length === 0) return { kind: "unchanged", productId };
  return {
    kind: "patch",
    productId,
    fields: Object.fromEntries(changed.map((field) => [field, values[field]])),
  };
}

/** The fields that an upsert of the row sets; one that the row has not stays as it is (Imports, Row fields). */
export function fieldsOf({ name, description, sex }: FileRow): FieldValues {
  return {
    name,
    ...(description === undefined ? {} : { description }),
    ...(sex === undefined ? {} : { sex }),
  };
}

/** A row with the digests of its images' sources; `contentOf` gives the SHA-256 (hex) of a local photo. */
export async function weigh(row: FileRow, contentOf: (path: string) => Promise<string>): Promise<Weighed> {
  const digests: Buffer[] = [];
  for (const image of row.images) {
    digests.push(
      sourceDigest(
        image.path === undefined ? (image as { url: string }) : { sha256: await contentOf(image.path) },
      ),
    );
  }
  return { row, digests };
}

export const referenceOfRow = (row: FileRow): string => canonicalReference(row.reference);
