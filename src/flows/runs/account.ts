import type { Client } from "../../client/client.ts";
import { CatError } from "../../errors.ts";
import type { State } from "../../state/state.ts";
import { mayNotRead, orNull } from "../service-errors.ts";
import type { ServiceIdentity } from "./service-identity.ts";

export interface AccountDeps {
  client: Client;
  state: State;
  service: ServiceIdentity;
  /** Whether the user says that a new key belongs to the organization of earlier imports. */
  sameOrganization: boolean;
  /** Receives a sentence for people. */
  onNote: (sentence: string) => void;
  signal: AbortSignal;
}

/**
 * The account that holds what this machine remembers of the key's organization. A key that was used before leads to its
 * account without a request; one under which nothing was imported yet counts as new. A new key asks for a few things that
 * the other accounts of the base URL are known to hold: the account of the first one found is its own, and if none is
 * found the key gets a new account. Throws a CatError of type conflict if the key cannot see them.
 */
export async function accountOf(deps: AccountDeps): Promise<number> {
  const { accounts } = deps.state;
  const { baseUrl, keyFingerprint } = deps.service;
  const own = accounts.find(baseUrl, keyFingerprint);
  if (own !== null && !isBlank(own, deps.state)) {
    if (deps.sameOrganization) noteSecondAccount(own, deps);
    return own;
  }
  const others = accounts.at(baseUrl).filter((account) => account !== own && !isBlank(account, deps.state));
  const shared = await sharedAccount(others, deps);
  if (shared !== null) {
    accounts.bind(baseUrl, keyFingerprint, shared);
    return shared;
  }
  if (others.length > 0) deps.onNote(treatedAsNew(baseUrl));
  return own ?? accounts.createFor(baseUrl, keyFingerprint);
}

/**
 * `--same-organization` does not join a key that has an account of its own: the ledgers of two accounts are not merged, so
 * photos would be added twice. A key that shares its account was joined before.
 */
function noteSecondAccount(own: number, { state, service, onNote }: AccountDeps): void {
  const { accounts } = state;
  const others = accounts
    .at(service.baseUrl)
    .filter((account) => account !== own && !isBlank(account, state));
  if (others.length === 0 || accounts.keys(own) > 1) return;
  onNote(
    "This API key has imports of its own, so --same-organization has no effect. To share what another key imported, use that key.",
  );
}

/** Whether an account says nothing about the service: no product is known, and nothing was sent that may have made one. */
const isBlank = (account: number, { ledger, batches }: State): boolean =>
  ledger.isEmpty(account) && !batches.anyUnsettled(account);

/** The account that a new key shares with other keys; null if it shares none. */
async function sharedAccount(others: readonly number[], deps: AccountDeps): Promise<number | null> {
  if (deps.sameOrganization && others.length === 1) return others[0]!;
  const candidates: number[] = [];
  for (const account of others) {
    const isVisible = await seesAnyOf(account, deps);
    if (isVisible === true) return account;
    if (isVisible === null) candidates.push(account);
  }
  if (deps.sameOrganization && candidates.length === 1) return candidates[0]!;
  // With --same-organization a new account would contradict the user.
  const possible = deps.sameOrganization && candidates.length === 0 ? others : candidates;
  if (possible.length > 0) throw anotherKey(possible.length, deps.service);
  return null;
}

/** So many of an account's last jobs are asked for. */
const mostJobs = 2;

/**
 * Whether the key sees something that the account is known to hold: its last jobs, and the newest and the oldest product
 * of its ledger. Null if the key may not read them, or rows were sent and the service never responded.
 */
async function seesAnyOf(account: number, { client, state, signal }: AccountDeps): Promise<boolean | null> {
  const { ledger, runs, batches } = state;
  const jobs = runs
    .open(account)
    .flatMap(({ id, kind }) =>
      batches.of(id).flatMap(({ jobs }) => jobs.map((job) => jobRequest(kind, job, client, signal))),
    );
  const products = new Set([ledger.last(account), ledger.first(account)].flatMap((id) => id ?? []));
  const requests = [
    ...jobs.slice(-mostJobs),
    ...[...products].map((product_id) => () => client.products.get({ product_id }, { signal })),
  ];
  let isCertain = requests.length > 0;
  for (const request of requests) {
    try {
      if ((await orNull<unknown>(request())) !== null) return true;
    } catch (error) {
      if (!mayNotRead(error)) throw error;
      isCertain = false;
    }
  }
  return isCertain ? false : null;
}

/** The request that shows whether the service has a job of a run of that kind. */
function jobRequest(kind: string, id: string, { imports, exports, tasks }: Client, signal: AbortSignal) {
  if (kind === "import") return () => imports.get({ import_id: id }, { signal });
  if (kind === "export") return () => exports.get({ export_id: id }, { signal });
  return () => tasks.get({ task_id: id }, { signal });
}

const treatedAsNew = (baseUrl: string): string =>
  `This API key sees nothing of what other keys imported at ${baseUrl}, so it counts as another organization. If it belongs to the same one, stop and add --same-organization.`;

function anotherKey(accounts: number, { baseUrl }: ServiceIdentity): CatError {
  const separate = "use a separate profile (--profile NAME) or ledger (--ledger FILE)";
  return new CatError(
    `earlier imports to ${baseUrl} used another API key; cannot determine whether both keys belong to one organization`,
    {
      type: "conflict",
      code: "another_key",
      hint:
        accounts === 1
          ? `If they do, add --same-organization. If not, ${separate}.`
          : `It may be one of ${accounts} organizations. Use a key with the scopes products:read and imports:read, or ${separate}; a new ledger does not know which photos are attached.`,
    },
  );
}
