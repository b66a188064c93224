import type { Client } from "../../../client/client.ts";
import type { State } from "../../../state/state.ts";
import type { SeenTexts } from "../../rows/seen-texts.ts";
import type { Holders } from "./holders.ts";

export interface RefreshDeps {
  client: Client;
  state: State;
  account: number;
  /** The kind of the run (`Run.kind`). */
  kind: string;
  concurrency: number;
  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  random: () => number;
  signal: AbortSignal;
  onProgress: (products: number) => void;
  /** Receives a note for the user. */
  onNote: (sentence: string) => void;
  holders: Holders;
}

/** Overlap with the previous refresh in milliseconds: a change may show up late (Exports, `since`). */
const refreshMarginMs = 5 * 60_000;

/** Start of the next refresh: the end of the last one minus the overlap, in Unix milliseconds. */
export const refreshFrom = ({ ledger }: State, account: number): number =>
  Math.max(0, (ledger.lookedAt(account) ?? 0) - refreshMarginMs);

/** The random part of the lowest ID of a millisecond (IDs are ULIDs). */
const lowestOfMoment = "0".repeat(16);

/** Products with a higher ID were created since the last refresh, so the changes have to report them. */
export async function createdSinceRefresh({ state, account }: RefreshDeps): Promise<string> {
  const { encodeTime } = await import("ulid");
  return encodeTime(refreshFrom(state, account)) + lowestOfMoment;
}

/** Products read from or written to the ledger at once. */
export const productsAtOnce = 1000;

/** The products in the ledger, after one ID and up to another, that the service did not report. */
export function notReported(
  listed: SeenTexts,
  { after, upTo }: { after: string; upTo: string },
  { state: { ledger }, account }: RefreshDeps,
): string[] {
  const missing: string[] = [];
  let last = after;
  while (true) {
    const ids = ledger.products(account, { after: last, upTo, count: productsAtOnce });
    missing.push(...ids.filter((id) => listed.add(id, 1) === null));
    if (ids.length < productsAtOnce) return missing;
    last = ids.at(-1)!;
  }
}

/**
 * Removes products from the ledger that returned 404 although no change reported them as deleted. The service
 * may have been restarted or restored, so uploads are forgotten as well: their images may be lost.
 */
export function forgetVanished(productIds: readonly string[], { state, account }: RefreshDeps): void {
  state.ledger.write(account, { gone: productIds });
  if (productIds.length > 0) state.uploads.forgetAll(account);
}
