/** What is known of one product at the service: what was attached to it, and which fields it has. */
export interface LedgerEntry {
  /** Canonical (trimmed). Unique within an account. */
  readonly reference: string;
  /** Unique within an account. */
  readonly productId: string;
  /** Digests of its fields, opaque here (`src/flows/import/ledger`). */
  readonly fields: Uint8Array;
  /** Digests of the image sources that were attached, 16 bytes each, one after the other; opaque here. */
  readonly sources: Uint8Array;
}

/** Which image source was attached to which reference, an entry a product. */
export interface Ledger {
  isEmpty(account: number): boolean;
  get(account: number, reference: string): LedgerEntry | null;
  ofProduct(account: number, productId: string): LedgerEntry | null;
  /** Up to `count` entries, spread over the ledger. */
  sample(account: number, count: number): LedgerEntry[];
  /** The id of the product that was made first (ids are ULIDs). */
  first(account: number): string | null;
  /** The id of the product that was made last, of those up to `upTo` where it is given. */
  last(account: number, upTo?: string): string | null;
  /** The product up to which the service was last seen to have what it should; null at first. */
  seenUpTo(account: number): string | null;
  setSeenUpTo(account: number, productId: string): void;
  /** Every entry has those fields from now on; only those of products from that id on, where it is given. */
  setFields(account: number, fields: Uint8Array, from?: string): void;
  /** The references of the entries that have just those fields. */
  havingFields(account: number, fields: Uint8Array): string[];
  /** In one transaction: removes the references of `gone`, then writes the entries, each in place of one of its reference or product. */
  write(account: number, change: { entries: readonly LedgerEntry[]; gone?: readonly string[] }): void;
  /** Up to when the ledger knows what happened at the service, in Unix milliseconds of the service's clock; null at first. */
  lookedAt(account: number): number | null;
  setLookedAt(account: number, at: number): void;
}
