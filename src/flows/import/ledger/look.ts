import type { Client } from "../../../client/client.ts";
import type { State } from "../../../state/state.ts";
import type { SeenTexts } from "../../rows/seen-texts.ts";

export interface LookDeps {
  client: Client;
  state: State;
  account: number;
  /** The kind of the run (`Run.kind`). */
  kind: string;
  concurrency: number;
  /** Of at least 0 and less than 1. */
  random: () => number;
  signal: AbortSignal;
  onProgress: (products: number) => void;
  /** Receives a sentence for people. */
  onNote: (sentence: string) => void;
}

/** Every look begins that much before the last one, in milliseconds: a change may be seen late (Exports, `since`). */
const lookMarginMs = 5 * 60_000;

/** From when on the ledger does not know what happened at the service, less the margin; Unix milliseconds. */
export const lookFrom = ({ ledger }: State, account: number): number =>
  Math.max(0, (ledger.lookedAt(account) ?? 0) - lookMarginMs);

/** The rest of the lowest ID that the service may have given at a moment (IDs are ULIDs). */
const lowestOfMoment = "0".repeat(16);

/** Products with a higher ID were made since the last look: the changes have to report them. */
export async function madeSinceLook({ state, account }: LookDeps): Promise<string> {
  const { encodeTime } = await import("ulid");
  return encodeTime(lookFrom(state, account)) + lowestOfMoment;
}

/** So many products are read from the ledger, or written into it, at once. */
export const lookBatch = 1000;

/** The products of the ledger, after one id and up to another, that are not among those that the service told. */
export function notTold(
  told: SeenTexts,
  { after, upTo }: { after: string; upTo: string },
  { state: { ledger }, account }: LookDeps,
): string[] {
  const missing: string[] = [];
  let last = after;
  while (true) {
    const ids = ledger.products(account, { after: last, upTo, count: lookBatch });
    missing.push(...ids.filter((id) => told.add(id, 1) === null));
    if (ids.length < lookBatch) return missing;
    last = ids.at(-1)!;
  }
}

/**
 * Has the ledger forget products that a look did not find (404) and no change reported as deleted. The service may have
 * been restarted or restored, so uploads are forgotten as well: their images may be gone.
 */
export function forgetVanished(productIds: readonly string[], { state, account }: LookDeps): void {
  state.ledger.write(account, { gone: productIds });
  if (productIds.length > 0) state.uploads.forgetAll(account);
}
