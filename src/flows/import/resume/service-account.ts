import { ApiError } from "../../../client/api-error.ts";
import type { Client } from "../../../client/client.ts";
import { CatError } from "../../../errors.ts";
import type { State } from "../../../state/state.ts";
import type { UnknownChoice } from "../import-input.ts";
import type { ServiceIdentity } from "../service-identity.ts";

export interface AccountDeps {
  client: Client;
  state: State;
  service: ServiceIdentity;
  /** What makes the import at hand the same as an earlier one (`identityOf`), and how its file is called. */
  identity: string;
  file: string;
  /** What the user says of calls whose outcome is not known. */
  unknown: UnknownChoice | undefined;
  signal: AbortSignal;
}

/** So many products, or imports, of an account are asked for before it is taken to be that of another organization. */
const sampled = 5;

/**
 * The account that this machine's memory of the service is kept under. A key that was seen before leads to its account,
 * as long as the service still knows a product of it: a made-up service that was started anew knows none. An unknown
 * key leads to the account whose products or imports it can see, as keys are changed for new ones; else to a new account.
 * Throws a CatError of type conflict where neither can be said and a mistake would send this import twice.
 */
export async function accountOf(deps: AccountDeps): Promise<number> {
  const { state, service } = deps;
  const known = state.accounts.find(service.baseUrl, service.keyFingerprint);
  if (known !== null && (await isOfService(known, deps))) return known;
  for (const account of state.accounts.at(service.baseUrl)) {
    if (account !== known && (await isSeenBy(account, deps))) return bound(account, deps);
  }
  for (const account of state.accounts.at(service.baseUrl)) {
    if (account === known || !hasSentUnheard(account, deps)) continue;
    if (deps.unknown === undefined) throw anotherKey(deps.file);
    return bound(account, deps);
  }
  return state.accounts.createFor(service.baseUrl, service.keyFingerprint, known);
}

function bound(account: number, { state, service }: AccountDeps): number {
  state.accounts.bind(service.baseUrl, service.keyFingerprint, account);
  return account;
}

const isOfService = async (account: number, deps: AccountDeps): Promise<boolean> =>
  deps.state.ledger.isEmpty(account) ||
  (await knowsAProduct(account, deps)) ||
  (await tellsOfTheirEnd(account, deps));

/** Whether an account is that of a key which was never seen. */
const isSeenBy = async (account: number, deps: AccountDeps): Promise<boolean> =>
  (!deps.state.ledger.isEmpty(account) && (await isOfService(account, deps))) ||
  (await knowsAnImport(account, deps));

/**
 * Whether this import was sent for an account, and nothing was heard that could tell whether the key belongs to it: taken
 * for the same organization it could be sent to another one, taken for another one be sent twice.
 */
function hasSentUnheard(account: number, { state, identity }: AccountDeps): boolean {
  const run = state.runs.findOpen(account, identity);
  if (run === null || !state.ledger.isEmpty(account)) return false;
  const calls = state.calls.of(run.id);
  return calls.length > 0 && calls.every((call) => call.state === "sent");
}

const anotherKey = (file: string): CatError =>
  new CatError(
    `${file === "-" ? "stdin" : file} was sent with another key before, and it is not known whether the service took it up`,
    {
      type: "conflict",
      code: "another_key",
      hint: "If this key is of the same organization, add --unknown resend; if it is of another one, give it a profile of its own with --profile NAME.",
    },
  );

/** Whether the service has one of the imports of which the end was not seen. */
async function knowsAnImport(account: number, { client, state, signal }: AccountDeps): Promise<boolean> {
  const sent = state.calls.unsettledElsewhere(account, "").flatMap(({ call }) => call.importId ?? []);
  for (const import_id of sent.slice(0, sampled)) {
    try {
      await client.imports.get({ import_id }, { signal });
      return true;
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 404)) throw error;
    }
  }
  return false;
}

/** Whether the service has one of the products. A key that may not read products cannot be asked: then it is believed. */
async function knowsAProduct(account: number, { client, state, signal }: AccountDeps): Promise<boolean> {
  for (const { productId } of state.ledger.sample(account, sampled)) {
    try {
      await client.products.get({ product_id: productId }, { signal });
      return true;
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) continue;
      if (mayNotRead(error)) return true;
      throw error;
    }
  }
  return false;
}

/** Whether the service tells that products of the ledger were deleted: then it knew them. */
async function tellsOfTheirEnd(account: number, { client, state, signal }: AccountDeps): Promise<boolean> {
  const { operations } = await import("../../../contract/operations.ts");
  const ids = new Set(state.ledger.sample(account, sampled).map(({ productId }) => productId));
  const since = new Date(0).toISOString();
  try {
    const changes = client.paginate(operations.exports.list, { since, role: "source" }, { signal });
    for await (const { product } of changes) if (ids.has(product.id)) return true;
    return false;
  } catch (error) {
    if (mayNotRead(error)) return true;
    throw error;
  }
}

/** A key without the scope to read. */
export const mayNotRead = (error: unknown): boolean =>
  error instanceof ApiError && error.code === "insufficient_scope";
