import { shortDigest } from "./short-digest.ts";

/** The fields of a product that an import sets, in the order in which their digests stand. */
export const ledgerFields = ["name", "description", "sex"] as const;
export type LedgerField = (typeof ledgerFields)[number];
export type FieldValues = Partial<Record<LedgerField, string | null>>;

const digestBytes = 8;
const unknown = Buffer.alloc(digestBytes);

/**
 * What the ledger keeps of a product's fields: a digest each, side by side, so that an entry tells whether a row would
 * change anything without holding its text. A field of which nothing is known has no digest (zeros).
 */
export class FieldDigests {
  readonly bytes: Buffer;

  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Of the values that are given; null is the value of a field that is empty at the service. */
  static of(values: FieldValues): FieldDigests {
    return new FieldDigests(Buffer.concat(ledgerFields.map((field) => digestOf(values[field]))));
  }

  static get nothing(): FieldDigests {
    return FieldDigests.of({});
  }

  knows(field: LedgerField): boolean {
    return !this.#of(field).equals(unknown);
  }

  /** Whether the field is known to be as in `other`. */
  agrees(field: LedgerField, other: FieldDigests): boolean {
    return this.knows(field) && this.#of(field).equals(other.#of(field));
  }

  /** These digests, and where they know nothing those of `earlier`. */
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

/** How many bytes the digests of one product take. */
export const fieldDigestBytes = ledgerFields.length * digestBytes;

/** A value that is neither a text nor null, which a response may have, tells nothing. */
function digestOf(value: unknown): Buffer {
  if (typeof value !== "string" && value !== null) return unknown;
  return shortDigest(value === null ? "null" : `text ${value}`, digestBytes);
}
