/** What is known of one product at the service: what was attached to it, and which fields it has. */
export interface LedgerEntry {
  /** Canonical (trimmed), unique within an account; null where another product has it by now. */
  readonly reference: string | null;
  /** Unique within an account. */
  readonly productId: string;
  /** Digests of its fields, opaque here (`src/flows/import/ledger`). */
  readonly fields: Uint8Array;
  /** Digests of the image sources that were attached, 16 bytes each, one after the other; opaque here. */
  readonly sources: Uint8Array;
}

/** What was seen of a product: what was attached to it is not told by that, and stays. */
export interface SeenProduct {
  readonly productId: string;
  /** Another product that has it is set aside; left as it is where nothing is given. */
  readonly reference?: string;
  readonly fields: Uint8Array;
}

/** What is done in one transaction, in this order. */
export interface LedgerChange {
  /** Products that are not there any more. */
  readonly gone?: readonly string[];
  /** References that products have by now of which nothing is known here. */
  readonly taken?: readonly string[];
  /** Of products that have an entry; there may be others. */
  readonly seen?: readonly SeenProduct[];
  /** Each in place of one of its product; another one that has its reference is set aside. */
  readonly entries?: readonly LedgerEntry[];
}

/** Which image source was attached to which reference, an entry a product. */
export interface Ledger {
  isEmpty(account: number): boolean;
  get(account: number, reference: string): LedgerEntry | null;
  ofProduct(account: number, productId: string): LedgerEntry | null;
  /** The id of the product that was made first (ids are ULIDs). */
  first(account: number): string | null;
  /** The id of the product that was made last, of those up to `upTo` where it is given. */
  last(account: number, upTo?: string): string | null;
  /** The next `count` ids of products after one id, up to another, in their order. */
  products(account: number, range: { after: string; upTo: string; count: number }): string[];
  /** Products of which another one has the reference by now, and which have another themselves, if they are still there. */
  setAside(account: number): string[];
  write(account: number, change: LedgerChange): void;
  /** Up to when the ledger knows what happened at the service, in Unix milliseconds of the service's clock; null at first. */
  lookedAt(account: number): number | null;
  setLookedAt(account: number, at: number): void;
}
