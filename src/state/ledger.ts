/** The known state of one product at the service: its fields, and the images attached to it. */
export interface LedgerEntry {
  /** Canonical (trimmed), unique within an account; null if another product has it now. */
  readonly reference: string | null;
  /** Unique within an account. */
  readonly productId: string;
  /** Digests of its fields, opaque here (`src/flows/import/ledger`). */
  readonly fields: Uint8Array;
  /** Digests of the attached image sources, 16 bytes each, concatenated; opaque here. */
  readonly sources: Uint8Array;
}

/** A product as it was fetched. This does not show its attached images, which stay as recorded. */
export interface SeenProduct {
  readonly productId: string;
  /** The reference; another product that has it loses it. Unchanged if undefined. */
  readonly reference?: string;
  readonly fields: Uint8Array;
}

/** Changes that are made in one transaction, in this order. */
export interface LedgerChange {
  /** Products that no longer exist. */
  readonly gone?: readonly string[];
  /** References now used by products without an entry. */
  readonly taken?: readonly string[];
  /** Lost references (`isLost`) to forget. */
  readonly found?: readonly string[];
  /** Updates of entries; products without an entry are ignored. */
  readonly seen?: readonly SeenProduct[];
  /** Entries, each replacing one of its product; another product with its reference loses it. */
  readonly entries?: readonly LedgerEntry[];
}

/** Records which image sources are attached to which reference, one entry per product. */
export interface Ledger {
  isEmpty(account: number): boolean;
  get(account: number, reference: string): LedgerEntry | null;
  ofProduct(account: number, productId: string): LedgerEntry | null;
  /** The ID of the product created first (IDs are ULIDs). */
  first(account: number): string | null;
  /** The ID of the product created last, up to `upTo` if given. */
  last(account: number, upTo?: string): string | null;
  /** The next `count` IDs of products after one ID, up to another, in order. */
  products(account: number, range: { after: string; upTo: string; count: number }): string[];
  /**
   * Products whose reference was taken over by another product, and that must have a different one now if
   * they still exist.
   */
  setAside(account: number): string[];
  /** Whether the reference had an entry whose product is gone or has another reference now. */
  isLost(account: number, reference: string): boolean;
  anyLost(account: number): boolean;
  write(account: number, change: LedgerChange): void;
  /** The time up to which the ledger knows all changes, in Unix milliseconds of the service's clock; null at first. */
  lookedAt(account: number): number | null;
  setLookedAt(account: number, at: number): void;
}
