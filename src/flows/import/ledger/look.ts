import type { Client } from "../../../client/client.ts";
import type { LedgerEntry } from "../../../state/ledger.ts";
import type { State } from "../../../state/state.ts";

export interface LookDeps {
  client: Client;
  state: State;
  account: number;
  concurrency: number;
  signal: AbortSignal;
  onProgress: (products: number) => void;
}

/** Every look begins that much before the last one, in milliseconds: a change may be seen late (Exports, `since`). */
export const lookMarginMs = 5 * 60_000;

/** From when on the ledger does not know what happened at the service, less the margin; Unix milliseconds. */
export const lookFrom = ({ ledger }: State, account: number): number =>
  Math.max(0, (ledger.lookedAt(account) ?? 0) - lookMarginMs);

/** The same in RFC 3339. */
export const sinceLastLook = (state: State, account: number): string =>
  new Date(lookFrom(state, account)).toISOString();

/** So many products are written into the ledger at once. */
export const lookBatch = 1000;

/** What the ledger knew of products, by their ids, whose references went to others: they may come under another one. */
export type Displaced = Map<string, LedgerEntry>;

/** What the ledger knows of a product, or knew until its reference went to another. */
export const entryOf = (
  productId: string,
  displaced: Displaced,
  { state, account }: LookDeps,
): LedgerEntry | null => state.ledger.ofProduct(account, productId) ?? displaced.get(productId) ?? null;

/** Writes entries into the ledger, and keeps aside those whose references they take. */
export function write(
  change: { entries: readonly LedgerEntry[]; gone: readonly string[] },
  displaced: Displaced,
  { state: { ledger }, account }: LookDeps,
): void {
  for (const { reference, productId } of change.entries) {
    const earlier = ledger.get(account, reference);
    if (earlier !== null && earlier.productId !== productId) displaced.set(earlier.productId, earlier);
  }
  ledger.write(account, change);
}
