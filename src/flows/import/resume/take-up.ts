import { ApiError } from "../../../client/api-error.ts";
import type { DoneRow, StoredCall } from "../../../state/calls.ts";
import type { Run } from "../../../state/runs.ts";
import { grouped } from "../../grouped.ts";
import type { ImportInput } from "../import-input.ts";
import type { ReadyCall } from "../sent-call.ts";
import { shownName } from "../shown-name.ts";
import { beginRun, claimRun } from "./claim-run.ts";
import { doubtDeps } from "./doubt-deps.ts";
import { type DoubtfulCall, resolveDoubt } from "./doubtful-calls.ts";
import { identityOf } from "./identity.ts";
import { isKeyAlive, readClocks } from "./key-life.ts";
import { type OtherRun, otherRuns, settleOtherRuns } from "./other-runs.ts";
import type { RunAtHand } from "./run-at-hand.ts";
import { sendAgain, sendAsTheyWere } from "./send-again.ts";
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
      const isOld = !input.fresh && isOvertaken(at(begun), input);
      if (isOld) deps.onNote(comparedAnew(input.source.name, begun));
      if (input.fresh || isOld) {
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

/**
 * Whether another run has written to the service since: that one may have changed again what this one brought, so that its
 * rows are compared anew. The ledger keeps their photos from being added twice.
 */
function isOvertaken({ state, account, id }: RunAtHand, { mode, photos }: ImportInput): boolean {
  const last = state.runs.lastWriter(account);
  const isBegun = state.calls.of(id).length > 0 || state.calls.doneRows(id).length > 0;
  return mode === "upsert" && photos === "new" && isBegun && last !== null && last !== id;
}

/** Has the user decide about calls of the run that nothing can be learnt of any more. */
async function makeSure(open: Run, run: RunAtHand, input: ImportInput, deps: TakeUpDeps): Promise<void> {
  const doubtful: DoubtfulCall[] = [];
  for (const call of run.state.calls.of(open.id)) {
    // Only an upsert sent twice adds its photos twice (Imports, rule 3).
    const mayDouble = call.state === "sent" && input.mode === "upsert";
    const isTooOld = mayDouble && !isKeyAlive(call, await readClocks(deps));
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

const comparedAnew = (name: string, { startedAt }: Run): string =>
  `The import of ${shownName(name)} that was begun at ${shownTime(startedAt)} had not ended, and another one was made since: its rows are compared anew.`;

function goingOn(name: string, open: Run, calls: readonly StoredCall[]): string {
  const done = calls.filter(({ state }) => state !== "sent");
  const rows = done.reduce((sum, call) => sum + call.rows.length, 0);
  return `Going on with the import of ${shownName(name)} that was begun at ${shownTime(open.startedAt)}: ${grouped(rows)} of its rows are submitted. (--fresh begins anew.)`;
}

/** A time for people, in UTC to the second. */
const shownTime = (time: number): string => `${new Date(time).toISOString().slice(0, 19)}Z`;
