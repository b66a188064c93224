import type { Client } from "../../../client/client.ts";
import type { Ledger } from "../../../state/ledger.ts";
import type { State } from "../../../state/state.ts";
import type { ServiceIdentity } from "../../runs/service-identity.ts";
import { mayNotRead } from "../../service-errors.ts";
import { FieldDigests } from "../ledger/field-digests.ts";
import { lookMarginMs } from "../ledger/look.ts";

/** What it takes to deal with a service that was put back to what it had been: a backup, or a made-up one that loads its state. */
export interface PutBackDeps {
  client: Client;
  state: State;
  service: ServiceIdentity;
  /** Told, in a sentence for people, what the user should hear of. */
  onNote: (sentence: string) => void;
  signal: AbortSignal;
}

/**
 * The products that tell by their absence that a service was put back: the one that was made last, and the last of those
 * that were there when this was asked before, as the service may have been put back while others were being made. Where it
 * was never asked, the first of all.
 */
export function newestProducts(account: number, ledger: Ledger): string[] {
  const seen = ledger.seenUpTo(account);
  const newest = [ledger.last(account), seen === null ? ledger.first(account) : ledger.last(account, seen)];
  return [...new Set(newest.flatMap((id) => id ?? []))];
}

/**
 * Whether the service tells of all these products, as of changed or of deleted ones; those that it tells of leave the set.
 * `onChange` is told every product that was changed since (RFC 3339).
 */
export async function findInChanges(
  products: Set<string>,
  since: string,
  { client, signal }: PutBackDeps,
  onChange: (productId: string) => void = () => {},
): Promise<"all found" | "some lost" | "not allowed"> {
  const { operations } = await import("../../../contract/operations.ts");
  const changes = client.paginate(operations.exports.list, { since, role: "source" }, { signal });
  try {
    for await (const { product } of changes) {
      onChange(product.id);
      products.delete(product.id);
      if (products.size === 0) return "all found";
    }
  } catch (error) {
    if (mayNotRead(error)) return "not allowed";
    throw error;
  }
  return "some lost";
}

/**
 * Nothing is said of a product any more before it was looked at, but of its photos as long as it is there, and nothing of
 * uploads. What others changed is told from the very first, as a rename may have been undone.
 */
export function doubtEverything(account: number, { ledger, uploads }: State): void {
  ledger.setFields(account, FieldDigests.nothing.bytes);
  ledger.setLookedAt(account, 0);
  uploads.forgetAll(account);
}

/** So many products that a service lost are forgotten at once; more of them as they are met. */
const mostForgotten = 50;

/**
 * Doubts everything, and forgets those that were made last, which are those that were lost. Where it is not certain that the
 * service was put back, they may have been deleted as well.
 */
export async function forgetWhatWasLost(
  account: number,
  { has, isCertain }: { has: (productId: string) => Promise<boolean>; isCertain: boolean },
  { state, onNote }: PutBackDeps,
): Promise<void> {
  const { ledger } = state;
  if (isCertain) {
    onNote(
      "The service was put back to what it had been: products are looked at anew. Photos that they lost are sent with --photos all alone.",
    );
  }
  doubtEverything(account, state);
  for (let count = 0; count < mostForgotten; count++) {
    const last = ledger.last(account);
    if (last === null || (await has(last))) break;
    ledger.write(account, { gone: [last] });
  }
  const last = ledger.last(account);
  if (last !== null) ledger.setSeenUpTo(account, last);
}

/**
 * Of a key that may not read products: whether exports tell of those of the account that were made last. Which others a
 * service lost that lacks one of them cannot be told then.
 */
export async function toldByExports(
  account: number,
  deps: PutBackDeps,
): Promise<"yes" | "some lost" | "not known"> {
  const { ledger } = deps.state;
  const newest = newestProducts(account, ledger);
  const { decodeTime } = await import("ulid");
  const made = Math.min(...newest.map((id) => decodeTime(id)));
  const since = new Date(made - lookMarginMs).toISOString();
  const outcome = await findInChanges(new Set(newest), since, deps);
  if (outcome === "all found") ledger.setSeenUpTo(account, newest[0]!);
  return outcome === "all found" ? "yes" : outcome === "some lost" ? outcome : "not known";
}
