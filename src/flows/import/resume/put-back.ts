import type { Client } from "../../../client/client.ts";
import { CatError } from "../../../errors.ts";
import type { State } from "../../../state/state.ts";
import { mayNotRead } from "../faults-of-service.ts";
import { FieldDigests } from "../ledger/field-digests.ts";
import { lookMarginMs } from "../ledger/look.ts";
import type { ServiceIdentity } from "../service-identity.ts";

/** What it takes to deal with a service that was put back to what it had been: a backup, or a made-up one that loads its state. */
export interface PutBackDeps {
  client: Client;
  state: State;
  service: ServiceIdentity;
  /** Told, in a sentence for people, what the user should hear of. */
  onNote: (sentence: string) => void;
  signal: AbortSignal;
}

/** So many products that a service lost are forgotten at once; more of them as they are met. */
const mostForgotten = 50;

/**
 * Nothing is said of a product any more before it was looked at, but of its photos as long as it is there. Those that were made
 * last are those that were lost.
 */
export async function forgetWhatWasLost(
  account: number,
  has: (productId: string) => Promise<boolean>,
  { state: { ledger }, onNote }: PutBackDeps,
): Promise<void> {
  onNote(
    "The service was put back to what it had been: products are looked at anew. Photos that they lost are sent with --photos all alone.",
  );
  ledger.setFields(account, FieldDigests.nothing.bytes);
  for (let count = 0; count < mostForgotten; count++) {
    const last = ledger.firstAndLast(account).at(-1);
    if (last === undefined || (await has(last))) return;
    ledger.write(account, { entries: [], gone: [ledger.ofProduct(account, last)!.reference] });
  }
}

/**
 * Of a key that may not read products: throws a CatError of type conflict where exports tell that the service lacks the one
 * that was made last. Which others it lost cannot be told then, and their rows would be called unchanged.
 */
export async function makeSureItWasNotPutBack(account: number, deps: PutBackDeps): Promise<void> {
  const { client, state, service, signal } = deps;
  const last = state.ledger.firstAndLast(account).at(-1);
  if (last === undefined) return;
  const { operations } = await import("../../../contract/operations.ts");
  const { decodeTime } = await import("ulid");
  const since = new Date(decodeTime(last) - lookMarginMs).toISOString();
  const changes = client.paginate(operations.exports.list, { since, role: "source" }, { signal });
  try {
    for await (const { product } of changes) if (product.id === last) return;
  } catch (error) {
    if (mayNotRead(error)) return;
    throw error;
  }
  throw new CatError(
    `${service.baseUrl} does not know a product that was imported before, and this key may not read products (scope products:read), so it cannot be told what else is lost`,
    {
      type: "conflict",
      code: "service_put_back",
      hint: "Import once with a key that may read products, or give this key a profile (--profile NAME) or a ledger (--ledger FILE) of its own, which knows of no photos that are attached.",
    },
  );
}
