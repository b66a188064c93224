import { shortDigest } from "../../short-digest.ts";

/** The product fields that an import sets, in the order of their digests. */
export const ledgerFields = ["name", "description", "sex"] as const;
export type LedgerField = (typeof ledgerFields)[number];
export type FieldValues = Partial<Record<LedgerField, string | null>>;

const digestBytes = 8;
const unknown = Buffer.alloc(digestBytes);

/**
 * The digests of a product's fields, concatenated. They show whether a row changes anything, without storing
 * the text. An unknown field is all zeros.
 */
export class FieldDigests {
  readonly bytes: Buffer;

  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Returns the digests of these values; null is the value of a field that is empty at the service. */
  static of(values: FieldValues): FieldDigests {
    return new FieldDigests(
      Buffer.concat(ledgerFields.map((field) => digestOf(compared(field, values[field])))),
    );
  }

  static get nothing(): FieldDigests {
    return FieldDigests.of({});
  }

  knows(field: LedgerField): boolean {
    return !this.#of(field).equals(unknown);
  }

  /** Whether the field is known and equal to the one in `other`. */
  agrees(field: LedgerField, other: FieldDigests): boolean {
    return this.knows(field) && this.#of(field).equals(other.#of(field));
  }

  /** Returns these digests, with unknown fields filled from `earlier`. */
  over(earlier: FieldDigests): FieldDigests {
    return new FieldDigests(
      Buffer.concat(ledgerFields.map((field) => (this.knows(field) ? this.#of(field) : earlier.#of(field)))),
    );
  }

  #of(field: LedgerField): Buffer {
    const at = ledgerFields.indexOf(field) * digestBytes;
    return this.bytes.subarray(at, at + digestBytes);
  }
}

/** Bytes that the digests of one product take. */
export const fieldDigestBytes = ledgerFields.length * digestBytes;

/** A CSV file has no spaces around a name, so they are no change. */
const compared = (field: LedgerField, value: unknown): unknown =>
  field === "name" && typeof value === "string" ? value.trim() : value;

/** A response may have a value that is neither a string nor null; it counts as unknown. */
function digestOf(value: unknown): Buffer {
  if (typeof value !== "string" && value !== null) return unknown;
  return shortDigest(value === null ? "null" : `text ${value}`, digestBytes);
}
