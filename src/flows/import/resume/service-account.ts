import { CatError } from "../../../errors.ts";
import type { RunOwner } from "../../../state/runs.ts";
import { shownName } from "../../rows/shown-name.ts";
import { mayNotRead, orNull } from "../../service-errors.ts";
import { importKind } from "../import-kind.ts";
import { sinceLastLook } from "../ledger/look.ts";
import { mayLookAtProducts } from "../ledger/look-at-products.ts";
import {
  doubtEverything,
  findInChanges,
  forgetWhatWasLost,
  newestProducts,
  type PutBackDeps,
  toldByExports,
} from "./put-back.ts";

export interface AccountDeps extends PutBackDeps {
  /** What makes the import at hand the same as an earlier one (`identityOf`), and how its file is called. */
  identity: string;
  file: string;
  /** Whether the user says that a key which was never seen is of the organization that earlier imports were sent to. */
  sameOrganization: boolean;
  /** Whether the ledger decides what is sent (`--photos new`). */
  asksLedger: boolean;
  /** This process, to see whether another one works on a run. */
  owner: RunOwner;
}

/** So many products, or imports, of an account are asked for before it is taken to be that of another organization. */
const sampled = 5;

/** Whether the key at hand is one of the organization that an account is of. */
type Belonging = "yes" | "no" | "not known";

/** What is told of the products of an account where not all is well: none is there, or one of the last is not, and the key may not read more. */
type Lost = "none there" | "some lost";

/**
 * What the service tells of an account to a key that was seen before: one that may not read anything is believed to be what
 * it was. An account of a service that was started anew is gone; for a blank one nothing was ever taken up, so that the key
 * may as well be one of another account. Of one for which runs are open and nothing else is known, the imports may be gone.
 */
type Standing = "known" | "gone" | "blank" | "imports gone" | Lost;

/**
 * The account that this machine's memory of the service is kept under. A key that was seen before leads to its account, as
 * long as the service still knows a product of it: one that was started anew, as made-up services are, knows none, and gets
 * a new account. Any other key, also one for which nothing was taken up yet, leads to the account whose products or imports
 * it can see, as keys are changed for new ones. Throws a CatError of type conflict where it cannot be said whose the key is,
 * and a mistake would lose rows or send them twice.
 */
export async function accountOf(deps: AccountDeps): Promise<number> {
  const { state, service } = deps;
  const known = state.accounts.find(service.baseUrl, service.keyFingerprint);
  const standing = known === null ? "blank" : await standingOf(known, deps);
  if (standing === "known") return known!;
  const others = state.accounts.at(service.baseUrl).filter((account) => account !== known);
  const undecided: number[] = [];
  for (const account of others) {
    const belonging = await belongingTo(account, deps);
    if (belonging === "yes") {
      if (standing !== "imports gone") return bound(account, deps);
      // They are of one organization, and calls whose outcome nobody knows stay in doubt.
      if (isHeld(known!, deps)) return known!;
      state.accounts.merge(known!, account);
      return account;
    }
    // One that no key leads to any more is of a service that is gone.
    if (belonging === "not known" && state.accounts.hasKey(account)) undecided.push(account);
  }
  if (undecided.length > 0 && standing === "blank") return bound(await theOne(undecided, deps), deps);
  if (isLost(standing)) {
    if (undecided.length > 0) throw lostProducts(standing, deps);
    goOnWithout(known!, standing, deps);
  }
  if (known !== null && standing !== "gone") return known;
  return state.accounts.createFor(service.baseUrl, service.keyFingerprint, known);
}

/** The account of a key that was seen before, as long as the service knows it: whatever others do meanwhile, it is that one. */
export async function provenAccount(deps: AccountDeps): Promise<number | null> {
  const { state, service } = deps;
  const known = state.accounts.find(service.baseUrl, service.keyFingerprint);
  return known !== null && (await standingOf(known, deps)) === "known" ? known : null;
}

async function standingOf(account: number, deps: AccountDeps): Promise<Standing> {
  const { ledger, runs, batches } = deps.state;
  if (ledger.isEmpty(account)) {
    const isBegun = runs.open(account).some(({ id }) => batches.of(id).length > 0);
    if (!isBegun) return "blank";
    return (await knowsAnImport(account, deps)) === "no" ? "imports gone" : "known";
  }
  const belonging = await knowsProducts(account, deps);
  if (belonging !== "no" && !isLost(belonging)) return "known";
  // A service that was started anew, and was given an import since that was not followed to its end.
  if (belonging !== "some lost" && (await knowsAnImport(account, deps)) === "yes") {
    doubtEverything(account, deps.state);
    return "known";
  }
  return belonging === "no" ? "gone" : belonging;
}

const isLost = (told: string): told is Lost => told === "none there" || told === "some lost";

/** The account that the user means, of those of which the service does not tell whether the key is theirs. */
async function theOne(undecided: readonly number[], deps: AccountDeps): Promise<number> {
  const { state } = deps;
  const begun = undecided.filter((account) => hasBegun(account, deps));
  const likely = begun.length > 0 ? begun : undecided;
  if (deps.sameOrganization && likely.length === 1) {
    const account = likely[0]!;
    const told = state.ledger.isEmpty(account) ? "yes" : await knowsProducts(account, deps);
    if (isLost(told)) goOnWithout(account, told, deps);
    return account;
  }
  // That a key is not let in at all matters more than whose it is.
  await mayLookAtProducts(deps);
  throw anotherKey(begun.length > 0, likely.length, deps);
}

function bound(account: number, { state, service }: AccountDeps): number {
  state.accounts.bind(service.baseUrl, service.keyFingerprint, account);
  return account;
}

/**
 * Has an account be used of which products are lost: nothing is said of one before it was looked at. A key that may not look
 * is refused, but where nothing is asked of the ledger.
 */
function goOnWithout(account: number, lost: Lost, deps: AccountDeps): void {
  if (lost === "some lost" && deps.asksLedger) throw lostProducts(lost, deps);
  doubtEverything(account, deps.state);
}

/** Why an import cannot be: its rows could neither be called unchanged nor be sent, or two accounts would be made of one organization. */
function lostProducts(lost: Lost, { service }: AccountDeps): CatError {
  const [what, code, reads] =
    lost === "none there"
      ? [
          "has none of the products that were asked for of those imported before, and this key may not read exports (scope exports:read), which would tell what was deleted",
          "products_gone",
          "exports",
        ]
      : [
          "does not know a product that was imported before, and this key may not read products (scope products:read), so it cannot be told what else is lost",
          "service_put_back",
          "products",
        ];
  return new CatError(`${service.baseUrl} ${what}`, {
    type: "conflict",
    code,
    // All keys have to go the other way together, as two ledgers would each add all photos.
    hint: `Import this file once with a key that may read ${reads}. Where there is none, begin with a ledger (--ledger FILE) that all keys use from then on: it knows of no photos that are attached.`,
  });
}

/**
 * Of a key that was never seen. Where nothing is found that the service could tell by, the answer matters only if rows were
 * sent: taken for the same organization they could be sent to another one, taken for another one be sent twice.
 */
async function belongingTo(account: number, deps: AccountDeps): Promise<Belonging> {
  const { state } = deps;
  const products = state.ledger.isEmpty(account) ? null : await knowsProducts(account, deps);
  if (products === "yes") return "yes";
  const imports = await knowsAnImport(account, deps);
  if (imports === "yes") return "yes";
  if (products !== null && isLost(products)) return "not known";
  if (products !== null) return products;
  // Imports that are gone say nothing of what another process is about to send.
  if (imports === "no" && isHeld(account, deps)) return "not known";
  return imports ?? (hasUnheard(account, deps) ? "not known" : "no");
}

/** Whether calls were sent of which nothing was heard, of whatever file, or another process is about to send some. */
function hasUnheard(account: number, { state, owner }: AccountDeps): boolean {
  if (
    state.batches
      .unsettledElsewhere({ account, kind: importKind, runId: "" })
      .some(({ batch }) => batch.state === "sent")
  )
    return true;
  return isHeld(account, { state, owner });
}

/** Whether another process is at work on a run of the account. */
const isHeld = (account: number, { state, owner }: Pick<AccountDeps, "state" | "owner">): boolean =>
  state.runs.open(account).some(({ identity }) => {
    const hold = state.runs.hold(account, identity, owner);
    if ("heldBy" in hold) return true;
    hold.release();
    return false;
  });

const hasBegun = (account: number, { state, identity }: AccountDeps): boolean =>
  state.runs.findOpen({ account, kind: importKind, identity }) !== null;

function anotherKey(isSame: boolean, count: number, { service, file }: AccountDeps): CatError {
  const sent = isSame ? shownName(file) : `what was sent to ${service.baseUrl}`;
  const ofItsOwn = "a profile (--profile NAME) or a ledger (--ledger FILE) of its own";
  return new CatError(
    `${sent} went out with another key before, and the service does not tell whether this one is of the same organization`,
    {
      type: "conflict",
      code: "another_key",
      hint:
        count === 1
          ? `If it is, add --same-organization; if not, give this key ${ofItsOwn}.`
          : `It may be of ${count} organizations: let this key read products (scope products:read), or give it ${ofItsOwn}, which knows of no photos that are attached.`,
    },
  );
}

/** Whether the service has one of the imports of runs that have not ended; null where there is none to ask for. */
async function knowsAnImport(
  account: number,
  { client, state, signal }: AccountDeps,
): Promise<Belonging | null> {
  const calls = state.runs.open(account).flatMap((run) => state.batches.of(run.id));
  const sent = calls.flatMap(({ jobs }) => jobs);
  try {
    for (const import_id of sent.slice(0, sampled))
      if (await exists(client.imports.get({ import_id }, { signal }))) return "yes";
    return sent.length > 0 ? "no" : null;
  } catch (error) {
    if (mayNotRead(error)) return "not known";
    throw error;
  }
}

/**
 * Whether the service has one of the ledger's products, or tells that it had.
 * Those are asked for first that were made last: a service that lacks one of them, and tells of no deletion, was put back to
 * what it had been (a made-up one that loads its state again, a backup), and has the first of them, however long ago that was.
 * It says "none there" where no product is there that was asked for, and the key may not read what was deleted. A key that may
 * not read products hears of the last ones by exports.
 */
async function knowsProducts(account: number, deps: AccountDeps): Promise<Belonging | Lost> {
  const { client, state, signal } = deps;
  const { ledger } = state;
  const has = (product_id: string) => exists(client.products.get({ product_id }, { signal }));
  const newest = newestProducts(account, ledger);
  const missing = new Set<string>();
  try {
    for (const id of newest) if (!(await has(id))) missing.add(id);
    if (missing.size === 0) {
      ledger.setSeenUpTo(account, newest[0]!);
      return "yes";
    }
    const older = new Set([
      ledger.first(account)!,
      ...ledger.sample(account, sampled - 2).map(({ productId }) => productId),
    ]);
    let isKnown = missing.size < newest.length;
    for (const id of older) isKnown ||= !missing.has(id) && (await has(id));
    const asked = new Set([...newest, ...older]);
    const outcome = await findInChanges(missing, sinceLastLook(state, account), deps, (id) => {
      isKnown ||= asked.has(id);
    });
    if (outcome === "all found") return "yes";
    if (isKnown) await forgetWhatWasLost(account, { has, isCertain: outcome === "some lost" }, deps);
    return isKnown ? "yes" : outcome === "not allowed" ? "none there" : "no";
  } catch (error) {
    if (mayNotRead(error)) return toldByExports(account, deps);
    throw error;
  }
}

/** Whether the service finds what is asked for. */
const exists = async (answer: Promise<unknown>): Promise<boolean> => (await orNull(answer)) !== null;
