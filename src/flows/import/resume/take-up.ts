import type { Import } from "../../../contract/resources/import.ts";
import type { StoredBatch } from "../../../state/batches.ts";
import type { Run } from "../../../state/runs.ts";
import { isKeyAlive, readClocks } from "../../batches/key-life.ts";
import { sendAgain } from "../../batches/send-again.ts";
import { grouped } from "../../grouped.ts";
import { RowSet } from "../../rows/row-set.ts";
import { shownName } from "../../rows/shown-name.ts";
import { accountOf } from "../../runs/account.ts";
import { claimRun } from "../../runs/claim-run.ts";
import type { RunAtHand } from "../../runs/run-at-hand.ts";
import { shownTime } from "../../runs/shown-time.ts";
import { orNull } from "../../service-errors.ts";
import { changeFailedRows } from "../fields/change-failed-rows.ts";
import { identityOf } from "../identity.ts";
import type { ImportInput } from "../import-input.ts";
import { importKind } from "../import-kind.ts";
import { isEnded } from "../results/follow-imports.ts";
import { RowsToBringIn } from "../rows-to-bring-in.ts";
import { doubtDeps } from "./doubt-deps.ts";
import { type DoubtfulCall, resolveDoubt } from "./doubtful-calls.ts";
import { otherRuns, settleOtherRuns } from "./other-runs.ts";
import { sendImportsAgain } from "./send-imports-again.ts";
import { settleCalls } from "./settle-calls.ts";
import type { TakeUpDeps } from "./take-up-deps.ts";
import type { TakenUp } from "./taken-up.ts";

/**
 * Finds what was begun of this import before and makes sure of it: no other process works on it, and nothing of it is left
 * in doubt that the user has not decided. With `fresh` the earlier run is brought to its end first, and a new one begun.
 * Throws a CatError of type conflict when another process has the run, or a choice is missing.
 */
export async function takeUpRun(input: ImportInput, deps: TakeUpDeps): Promise<TakenUp> {
  const { state, sentJobs } = await deps.state();
  const service = await deps.service();
  const identity = identityOf(input, {
    file: input.file.source.digest!,
    photos: await input.localPhotos.digestOfAll(),
  });
  const { client, clock, signal, onNote } = deps;
  const { sameOrganization } = input;
  const account = await accountOf({ client, state, service, sameOrganization, onNote, signal });
  const { mode, onImageError, photos } = input;
  const fresh: Run = {
    ...{ id: deps.runId, account, kind: importKind, identity, file: input.file.source.name },
    ...{ options: { mode, onImageError, photos }, startedAt: clock.now() },
  };
  const { hold, begun, open: claimed } = claimRun(fresh, deps.pid, state);
  try {
    const at = (run: Run): RunAtHand => ({ state, sentJobs, service, account, id: run.id, kind: importKind });
    let open = claimed;
    if (begun !== null) {
      const isDone = await makeSure(begun, at(begun), input, deps);
      const why = input.fresh ? null : whyAnew(at(begun), isDone, input);
      if (why !== null) deps.onNote(comparedAnew(input.file.source.name, begun, why));
      if (input.fresh || why !== null) {
        await bringToItsEnd(begun, at(begun), input, deps);
        state.runs.begin(fresh);
        open = fresh;
      } else if (isBegun(at(begun))) deps.onNote(goingOn(input.file.source.name, begun, at(begun)));
    }
    const run = at(open);
    const others = input.photos === "new" ? otherRuns(run) : [];
    if (others.length > 0) await settleOtherRuns(others, doubtDeps(run, input, deps), deps);
    return {
      run,
      earlier: state.batches.of(run.id),
      again: () => sendAgain(run, state.batches.of(run.id), deps),
      patched: state.batches.doneRows(run.id),
      patching: state.batches.patchingRows(run.id),
      others: others.length > 0 ? otherRuns(run) : [],
      release: () => hold.release(),
    };
  } catch (error) {
    hold.release();
    throw error;
  }
}

/**
 * Why the rows of an open run are compared anew, as what it brought may have been changed since; null where it just goes on.
 * The ledger keeps their photos from being added twice.
 */
function whyAnew(
  { state, account, id }: RunAtHand,
  isDone: boolean,
  { mode, photos, wait }: ImportInput,
): string | null {
  if (mode !== "upsert" || photos !== "new" || !isBegun({ state, id })) return null;
  const last = state.runs.lastWriter(account);
  if (last !== null && last !== id) return "had not ended, and another one was made since";
  // Whoever never waits would never hear of its end, and nothing more would be brought in, as of a file that is given every night.
  return !wait && isDone ? "is done at the service" : null;
}

/** Whether anything of a run was sent. */
const isBegun = ({ state, id }: Pick<RunAtHand, "state" | "id">): boolean =>
  state.batches.of(id).length > 0 || state.batches.doneRows(id).length > 0;

/**
 * Has the user decide about calls of the run that nothing can be learnt of any more. Gives whether the service has done all
 * that was sent.
 */
async function makeSure(open: Run, run: RunAtHand, input: ImportInput, deps: TakeUpDeps): Promise<boolean> {
  const doubtful: DoubtfulCall[] = [];
  let isDone = true;
  for (const call of run.state.batches.of(open.id)) {
    // Only an upsert sent twice adds its photos twice (Imports, rule 3).
    const mayDouble = call.state === "sent" && input.mode === "upsert";
    const isTooOld = mayDouble && !isKeyAlive(call, await readClocks(deps));
    const job = call.state === "accepted" ? await jobOf(call, deps) : undefined;
    if (isTooOld || job === null) doubtful.push({ run: open, call });
    isDone &&= call.state === "settled" || (job !== null && job !== undefined && isEnded(job));
  }
  await resolveDoubt(doubtful, doubtDeps(run, input, deps));
  return isDone;
}

/** The import of a call; null where the service does not know it. */
const jobOf = ({ jobs }: StoredBatch, { client, signal }: TakeUpDeps): Promise<Import | null> =>
  orNull(client.imports.get({ import_id: jobs[0]! }, { signal }));

/** Learns what became of everything that was sent, so that a new run begins with a ledger that knows it. */
async function bringToItsEnd(open: Run, run: RunAtHand, input: ImportInput, deps: TakeUpDeps): Promise<void> {
  const { state } = run;
  const { concurrency } = input;
  await sendImportsAgain(run, { run: open, calls: state.batches.of(open.id) }, concurrency, deps);
  const calls = state.batches.of(open.id);
  const jobs = new Map<string, Import>();
  await settleCalls(
    calls.filter((call) => call.state === "accepted").map((call) => ({ run: open, call })),
    {
      ...{ client: deps.client, run, signal: deps.signal, concurrency },
      onProgress: (done, total) => deps.onProgress({ step: "waiting for the earlier run", done, total }),
      onEnded: (job) => jobs.set(job.id, job),
    },
  );
  // Else nothing would change the fields of rows whose photos fail each time, where nobody ever waits.
  const taken = { run, earlier: calls, patched: state.batches.doneRows(open.id), patching: [] };
  const rows = new RowsToBringIn({ input, refused: new RowSet(), taken, uploads: new Map() });
  const sent = calls.flatMap((call) =>
    call.state === "sent" ? [] : [{ ...call, kind: "accepted" as const }],
  );
  const latest = (importId: string) => jobs.get(importId);
  const { stopped } = await changeFailedRows(rows, sent, { ...deps, taken, concurrency, latest });
  if (stopped !== undefined) throw stopped;
  state.runs.end(open.id, deps.clock.now());
}

const comparedAnew = (name: string, { startedAt }: Run, why: string): string =>
  `The import of ${shownName(name)} that was begun at ${shownTime(startedAt)} ${why}: its rows are compared anew.`;

function goingOn(name: string, open: Run, { state, id }: RunAtHand): string {
  const submitted = new RowSet();
  for (const call of state.batches.of(id)) {
    if (call.state !== "sent") for (const row of call.rows) submitted.add(row);
  }
  for (const { row } of state.batches.doneRows(id)) submitted.add(row);
  const are = submitted.size === 1 ? "is" : "are";
  return `Going on with the import of ${shownName(name)} that was begun at ${shownTime(open.startedAt)}: ${grouped(submitted.size)} of its rows ${are} submitted. (--fresh begins anew.)`;
}
