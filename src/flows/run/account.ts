import type { Client } from "../../client/client.ts";
import { CatError } from "../../errors.ts";
import type { State } from "../../state/state.ts";
import { mayNotRead, orNull } from "../service-errors.ts";

/** Identifies the service and the account: the base URL, and a digest of the API key (never the key). */
export interface ServiceIdentity {
  readonly baseUrl: string;
  readonly keyFingerprint: string;
}

export interface KeyToPlace {
  client: Client;
  state: State;
  service: ServiceIdentity;
  /** `--same-organization`: a new key shares earlier imports. Null for a command without this flag. */
  sameOrganization: boolean | null;
  onNote: (sentence: string) => void;
  signal: AbortSignal;
}

/**
 * The account with everything this machine remembers of the key's organization. A key used before finds its
 * account without a request; a key without imports counts as new.
 *
 * For a new key, a few things known to exist in the other accounts of the base URL are requested: the first
 * account found this way is shared, and otherwise the key gets a new one. Throws a CatError of type conflict
 * if the key lacks the scopes for these requests.
 */
export async function findAccount(key: KeyToPlace): Promise<number> {
  const { accounts } = key.state;
  const { baseUrl, keyFingerprint } = key.service;
  const own = accounts.find(baseUrl, keyFingerprint);
  if (own !== null && !isBlank(own, key.state)) {
    if (key.sameOrganization) noteSecondAccount(own, key);
    return own;
  }
  const others = accounts.at(baseUrl).filter((account) => account !== own && !isBlank(account, key.state));
  const shared = await sharedAccount(others, key);
  if (shared !== null) {
    accounts.bind(baseUrl, keyFingerprint, shared);
    return shared;
  }
  if (others.length > 0) key.onNote(treatedAsNew(key));
  return own ?? accounts.createFor(baseUrl, keyFingerprint);
}

/** A key with its own account cannot join another: merging two ledgers would add photos twice. */
function noteSecondAccount(own: number, { state, service, onNote }: KeyToPlace): void {
  const { accounts } = state;
  const others = accounts
    .at(service.baseUrl)
    .filter((account) => account !== own && !isBlank(account, state));
  if (others.length === 0 || accounts.keys(own) > 1) return;
  onNote(
    "This API key has its own imports, so --same-organization has no effect. To share what another key imported, use that key.",
  );
}

/** Whether an account knows nothing about the service: no product, and no batch that may have created one. */
const isBlank = (account: number, { ledger, batches }: State): boolean =>
  ledger.isEmpty(account) && !batches.anyUnsettled(account);

/** The account that a new key shares with other keys; null if none. */
async function sharedAccount(others: readonly number[], key: KeyToPlace): Promise<number | null> {
  if (key.sameOrganization && others.length === 1) return others[0]!;
  const candidates: number[] = [];
  for (const account of others) {
    const isVisible = await seesProducts(account, key);
    if (isVisible === true) return account;
    if (isVisible === null) candidates.push(account);
  }
  if (key.sameOrganization && candidates.length === 1) return candidates[0]!;
  // With --same-organization a new account would contradict the user.
  const possible = key.sameOrganization && candidates.length === 0 ? others : candidates;
  if (possible.length > 0) throw anotherKey(possible.length, key);
  return null;
}

/** The maximum number of an account's jobs to request, newest first. */
const mostJobs = 2;

/** Whether the key sees a last job, or the newest or oldest product; null without scopes or any response. */
async function seesProducts(account: number, { client, state, signal }: KeyToPlace): Promise<boolean | null> {
  const { ledger, batches } = state;
  const jobs = batches
    .lastJobs(account, mostJobs)
    .map(({ kind, id }) => jobRequest(kind, id, client, signal));
  const products = new Set([ledger.last(account), ledger.first(account)].flatMap((id) => id ?? []));
  const requests = [
    ...jobs,
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

/** The request that checks whether the service has a job of a run of that kind. */
function jobRequest(kind: string, id: string, { imports, exports, tasks }: Client, signal: AbortSignal) {
  if (kind === "import") return () => imports.get({ import_id: id }, { signal });
  if (kind === "export") return () => exports.get({ export_id: id }, { signal });
  return () => tasks.get({ task_id: id }, { signal });
}

type Asked = Pick<KeyToPlace, "service" | "sameOrganization">;

function treatedAsNew({ service: { baseUrl }, sameOrganization }: Asked): string {
  const what = `This API key cannot see what other keys imported to ${baseUrl}, so it is treated as another organization's key.`;
  if (sameOrganization === null) return what;
  return `${what} If it belongs to the same one, press Ctrl-C and add --same-organization.`;
}

function anotherKey(accounts: number, { service: { baseUrl }, sameOrganization }: Asked): CatError {
  const separate = "use a separate profile (--profile NAME) or ledger (--ledger FILE)";
  const withoutFlags =
    "Use a separate profile for this key (--profile NAME), or a key with the scopes products:read and imports:read.";
  return new CatError(
    `earlier imports to ${baseUrl} used another API key; cannot determine whether both keys belong to one organization`,
    {
      type: "conflict",
      code: "another_key",
      hint:
        sameOrganization === null
          ? withoutFlags
          : accounts === 1
            ? `If they do, add --same-organization. If not, ${separate}.`
            : `It may be one of ${accounts} organizations. Use a key with the scopes products:read and imports:read, or ${separate}; a new ledger does not know which photos are attached.`,
    },
  );
}
