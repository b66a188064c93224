import { ApiError } from "../../../client/api-error.ts";
import { CatError } from "../../../errors.ts";
import type { DoneRow, StoredCall } from "../../../state/calls.ts";
import type { Run, RunHold, RunOwner } from "../../../state/runs.ts";
import type { State } from "../../../state/state.ts";
import { grouped } from "../../grouped.ts";
import type { ImportInput } from "../import-input.ts";
import type { ReadyCall } from "../sent-call.ts";
import type { ServiceIdentity } from "../service-identity.ts";
import { shownName } from "../shown-name.ts";
import { doubtDeps } from "./doubt-deps.ts";
import { type DoubtfulCall, resolveDoubt } from "./doubtful-calls.ts";
import { identityOf } from "./identity.ts";
import { isKeyAlive } from "./key-life.ts";
import { type OtherRun, otherRuns, settleOtherRuns } from "./other-runs.ts";
import type { RunAtHand } from "./run-at-hand.ts";
import { sendAgain, sendAsTheyWere } from "./send-again.ts";
import { accountOf, provenAccount } from "./service-account.ts";
import { settleCalls } from "./settle-calls.ts";
import type { TakeUpDeps } from "./take-up-deps.ts";

/** The run of a command: one that was stopped before, or a new one. */
export interface TakenUp {
  run: RunAtHand;
  /** The calls that were made of it before, without those that were refused or never sent. */
  earlier: readonly StoredCall[];
  /** Those of them whose outcome is unknown, to be sent as they were. */
  again: () => AsyncGenerator<ReadyCall>;
  /** Its rows that were brought in without a call whose results tell of them. */
  patched: readonly DoneRow[];
  /** The places of rows of which it is not known whether their PATCH was carried out. */
  patching: readonly number[];
  /** Runs of other files that were stopped, or are going on, with rows under way. */
  others: readonly OtherRun[];
  /** Lets other processes have the run. */
  release: () => void;
}

/**
 * Finds what was begun of this import before and makes sure of it: no other process works on it, and nothing of it is left
 * in doubt that the user has not decided. With `fresh` the earlier run is brought to its end first, and a new one begun.
 * Throws a CatError of type conflict when another process has the run, or a choice is missing.
 */
export async function takeUpRun(input: ImportInput, deps: TakeUpDeps): Promise<TakenUp> {
  const { state, sentImports } = await deps.state();
  const service = await deps.service();
  const identity = identityOf(input, {
    file: input.source.digest!,
    photos: await input.localPhotos.digestOfAll(),
  });
  const { account, hold, begun, created } = await claimRun({ state, service, identity }, input, deps);
  try {
    const at = (run: Run): RunAtHand => ({ state, sentImports, service, account, id: run.id });
    let open = begun ?? created;
    if (begun !== null) {
      await makeSure(begun, at(begun), input, deps);
      if (input.fresh) {
        await bringToItsEnd(begun, at(begun), input, deps);
        open = beginRun(account, identity, state, input, deps);
      } else if (state.calls.of(begun.id).length > 0) {
        deps.onNote(goingOn(input.source.name, begun, state.calls.of(begun.id)));
      }
    }
    const run = at(open);
    const others = input.photos === "new" ? otherRuns(run) : [];
    if (others.length > 0) await settleOtherRuns(others, doubtDeps(run, input, deps), deps);
    return {
      run,
      earlier: state.calls.of(run.id),
      again: () => sendAgain(run, state.calls.of(run.id), deps),
      patched: state.calls.doneRows(run.id),
      patching: state.calls.patchingRows(run.id),
      others: others.length > 0 ? otherRuns(run) : [],
      release: () => hold.release(),
    };
  } catch (error) {
    hold.release();
    throw error;
  }
}

interface Claim {
  account: number;
  hold: RunHold;
  /** The run that was begun before and has not ended. */
  begun: Run | null;
  /** The one that is begun now; the same where there was one. */
  created: Run;
}

/**
 * Makes the run this process's own. With a key of which it is not known whose it is, one process at a time, so that what one
 * has begun is there when the next one looks: two keys of one organization must not be taken for two.
 */
async function claimRun(
  { state, service, identity }: { state: State; service: ServiceIdentity; identity: string },
  input: ImportInput,
  deps: TakeUpDeps,
): Promise<Claim> {
  const { client, clock, signal } = deps;
  const owner = { pid: deps.pid, since: clock.now() };
  const account = {
    ...{ client, state, service, identity, owner, signal },
    ...{ file: input.source.name, sameOrganization: input.sameOrganization },
  };
  const claim = (account: number): Claim => {
    const hold = state.runs.hold(account, identity, owner);
    if ("heldBy" in hold) throw alive(input.source.name, hold.heldBy);
    let begun = state.runs.findOpen(account, identity);
    if (begun !== null && isOver(begun, state)) {
      state.runs.end(begun.id, clock.now());
      begun = null;
    }
    return { account, hold, begun, created: begun ?? beginRun(account, identity, state, input, deps) };
  };
  const proven = await provenAccount(account);
  if (proven !== null) return claim(proven);
  const turn = await turnAt(service.baseUrl, owner, state, deps);
  try {
    return claim(await accountOf(account));
  } finally {
    turn.release();
  }
}

/**
 * Whether a run that nobody waited for was sent whole, and its results were read for another file since: that one may have
 * changed again what this one brought, so that its rows are judged anew. The ledger keeps photos from being added twice.
 */
function isOver({ id, options }: Run, { calls }: State): boolean {
  const all = calls.of(id);
  const isSettled = all.length > 0 && all.every(({ state }) => state === "settled");
  return options.sent === "all" && options.photos === "new" && isSettled;
}

function beginRun(
  account: number,
  identity: string,
  state: State,
  { mode, onImageError, photos, source }: ImportInput,
  { clock, runId }: TakeUpDeps,
): Run {
  const options = { mode, onImageError, photos };
  const run = { id: runId, account, identity, file: source.name, options, startedAt: clock.now() };
  state.runs.begin(run);
  return run;
}

/** How often it is looked whether another process is done, and how long at most, in milliseconds. */
const turnPause = 50;
const longestTurn = 60_000;

/** Waits until no other process is about to claim a run at that base URL. No account has that number. */
async function turnAt(
  baseUrl: string,
  owner: RunOwner,
  { runs }: State,
  { clock, signal, onNote }: TakeUpDeps,
): Promise<RunHold> {
  for (let waited = 0; ; waited += turnPause) {
    const hold = runs.hold(0, `claiming at ${baseUrl}`, owner);
    if (!("heldBy" in hold)) return hold;
    const { pid } = hold.heldBy;
    if (waited === 20 * turnPause)
      onNote(`Waiting for process ${pid}, which is beginning an import at ${baseUrl} as well.`);
    if (waited >= longestTurn) throw notGettingOn(pid, baseUrl);
    await clock.sleep(turnPause, signal);
  }
}

const notGettingOn = (pid: number, baseUrl: string): CatError =>
  new CatError(`process ${pid} is beginning an import at ${baseUrl} and does not get on`, {
    type: "conflict",
    code: "import_under_way",
    hint: "Wait for it, or stop it, and give the command again.",
  });

/** Has the user decide about calls of the run that nothing can be learnt of any more. */
async function makeSure(open: Run, run: RunAtHand, input: ImportInput, deps: TakeUpDeps): Promise<void> {
  const doubtful: DoubtfulCall[] = [];
  for (const call of run.state.calls.of(open.id)) {
    // Only an upsert sent twice adds its photos twice (Imports, rule 3).
    const isTooOld =
      call.state === "sent" && input.mode === "upsert" && !isKeyAlive(call.sentAt, deps.clock.now());
    if (isTooOld || (call.state === "accepted" && (await isLost(call, deps))))
      doubtful.push({ run: open, call });
  }
  await resolveDoubt(doubtful, doubtDeps(run, input, deps));
}

async function isLost({ importId }: StoredCall, { client, signal }: TakeUpDeps): Promise<boolean> {
  try {
    await client.imports.get({ import_id: importId! }, { signal });
    return false;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return true;
    throw error;
  }
}

/** Learns what became of everything that was sent, so that a new run begins with a ledger that knows it. */
async function bringToItsEnd(open: Run, run: RunAtHand, input: ImportInput, deps: TakeUpDeps): Promise<void> {
  const { state } = run;
  await sendAsTheyWere(run, { run: open, calls: state.calls.of(open.id) }, input.concurrency, deps);
  const accepted = state.calls.of(open.id).filter((call) => call.state === "accepted");
  await settleCalls(
    accepted.map((call) => ({ run: open, call })),
    {
      ...{ client: deps.client, run, signal: deps.signal, concurrency: input.concurrency },
      onProgress: (done, total) => deps.onProgress({ step: "waiting for the earlier run", done, total }),
    },
  );
  state.runs.end(open.id, deps.clock.now());
}

const alive = (file: string, { pid, since }: RunOwner): CatError =>
  new CatError(
    `${shownName(file)} is being imported already, since ${new Date(since).toISOString().slice(0, 19)}Z by process ${pid}`,
    { type: "conflict", code: "run_alive", hint: "Wait for it, or stop it and give the command again." },
  );

function goingOn(name: string, open: Run, calls: readonly StoredCall[]): string {
  const done = calls.filter(({ state }) => state !== "sent");
  const rows = done.reduce((sum, call) => sum + call.rows.length, 0);
  const when = new Date(open.startedAt).toISOString().slice(0, 19);
  return `Going on with the import of ${shownName(name)} that was begun at ${when}Z: ${grouped(rows)} of its rows are submitted. (--fresh begins anew.)`;
}
