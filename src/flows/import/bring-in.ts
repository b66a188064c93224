import { limits } from "../../contract/limits.ts";
import { CatError } from "../../errors.ts";
import { type Call, cutIntoCalls } from "./calls.ts";
import { changeFailedRows } from "./change-failed-rows.ts";
import type { CheckResult } from "./check.ts";
import { closeRun } from "./close-run.ts";
import type { EndedRun } from "./ended-run.ts";
import { decisive } from "./faults-of-service.ts";
import { Follower } from "./follow.ts";
import type { ImportInput, OutputTargets } from "./import-input.ts";
import { makePlan } from "./make-plan.ts";
import { patchRows } from "./patch-rows.ts";
import { estimateLine } from "./photos/estimate.ts";
import type { PhotoUpload } from "./photos/refused-photos.ts";
import { uploadPhotos } from "./photos/upload-photos.ts";
import type { Plan } from "./plan.ts";
import { ImportProgress } from "./progress.ts";
import { changeOf } from "./read/source.ts";
import { Journal } from "./resume/journal.ts";
import { hearOf } from "./resume/key-life.ts";
import type { TakeUpDeps } from "./resume/take-up-deps.ts";
import type { TakenUp } from "./resume/taken-up.ts";
import type { RowSet } from "./row-set.ts";
import { RowsToBringIn } from "./rows-to-bring-in.ts";
import { sendCalls } from "./send.ts";
import type { ReadyCall, SentCall } from "./sent-call.ts";

/** A run whose file was found in order. */
export interface RunToBringIn {
  input: ImportInput;
  deps: TakeUpDeps;
  targets: OutputTargets;
  check: CheckResult;
  /** Rows that the check refused, when the others were to be imported. */
  refused: RowSet;
  taken: TakenUp;
}

/** Plan, upload, send, follow, change single fields, close: each stage is written down, so that it can be taken up after any end. */
export async function bringIn(at: RunToBringIn): Promise<EndedRun> {
  const { deps, taken } = at;
  const uploads = new Map<string, PhotoUpload>();
  const rows = new RowsToBringIn({ ...at, uploads });
  const progress = new ImportProgress(at.check.valid, deps.onProgress);
  const { client, signal } = deps;
  const follower = new Follower({
    ...{ client, signal, onProgress: progress.followed },
    onStatus: ({ id, status }) => taken.run.sentImports.seen(id, status),
  });
  const sending = await prepareAndSend(at, rows, uploads, { progress, follower });
  const patching =
    sending.stopped === undefined ? await patch(at, rows) : { outcomes: [], stopped: undefined };
  const unfollowed = await follower.settled();
  const sent = [...earlierCalls(taken, sending), ...sending.sent].sort(inOrderOfFile);
  const { latest } = follower;
  const stoppedBefore = sending.stopped ?? patching.stopped;
  const failed =
    stoppedBefore === undefined
      ? await changeFailedRows(rows, sent, { ...deps, concurrency: at.input.concurrency, taken, latest })
      : nothingChanged;
  const closed = await closeRun({
    ...{ ...at, sent, latest, unchanged: rows.unchanged },
    patched: [...rows.doneBefore(), ...patching.outcomes, ...rows.told],
    changedAgain: new Map([...rows.changedBefore(), ...failed.products]),
    left: (stoppedBefore ?? failed.stopped) === undefined ? null : rows.left(sent),
  });
  // An interrupt makes other things fail, each in its own words: it is the reason.
  const stopped = deps.signal.aborted
    ? deps.signal.reason
    : (stoppedBefore ?? decisive(unfollowed, failed.stopped, closed.stopped));
  return {
    ...{ ...closed, stopped: stopped as unknown, sent },
    changed: stopped === undefined ? null : await changeOf(at.input.source),
  };
}

const nothingChanged = { products: new Map(), stopped: undefined };

interface Following {
  progress: ImportProgress;
  follower: Follower;
}

/** What must be known and be there before rows are sent, and then the rows. What keeps them from being sent is told with the summary. */
async function prepareAndSend(
  at: RunToBringIn,
  rows: RowsToBringIn,
  uploads: Map<string, PhotoUpload>,
  following: Following,
): Promise<{ sent: SentCall[]; stopped: unknown }> {
  const { deps } = at;
  try {
    const plan = () => makePlan({ ...at, decided: () => rows.decided() });
    let next = await plan();
    tellEstimate(next, at);
    await upload(next, uploads, at);
    // Uploads take their time, in which others may have deleted products: those need all their photos.
    for (let round = 1; next !== null && next.uploads.count > 0 && round < mostPlans; round++) {
      next = await plan();
      await upload(next, uploads, at);
    }
    // A call whose answer is lost must not be the first that is heard of the service: its key is as old as the service says.
    await hearOf(deps);
  } catch (error) {
    if (deps.signal.aborted || isTold(error)) return { sent: [], stopped: error };
    throw error;
  }
  return sendRows(at, rows, uploads, following);
}

/** So often a plan is made anew because something was uploaded meanwhile. */
const mostPlans = 10;

const upload = (
  plan: Plan | null,
  done: Map<string, PhotoUpload>,
  { input, deps, taken }: RunToBringIn,
): Promise<void> =>
  uploadPhotos(plan?.photos ?? new Map(), done, {
    ...{ ...deps, photos: input.localPhotos, concurrency: input.concurrency },
    ...{ uploads: taken.run.state.uploads, account: taken.run.account },
  });

/** Whether an error that keeps rows from being sent is told with the summary; what asks the user for a choice, and is no answer of the service, stands alone. */
const isTold = (error: unknown): boolean =>
  error instanceof CatError && (error.type !== "conflict" || error.status !== undefined);

function tellEstimate(plan: Plan | null, { deps, check, taken }: RunToBringIn): void {
  const left = check.valid - taken.earlier.reduce((sum, { rows }) => sum + rows.length, 0);
  const sends = plan?.sends ?? left;
  const calls = Math.ceil(sends / limits.importRows.max);
  const counts = { photos: plan?.uploads.count ?? 0, bytes: plan?.uploads.bytes ?? 0 };
  const line = estimateLine({ ...counts, patches: plan?.patches ?? 0, calls }, deps.writesPerMinute);
  if (line !== null) deps.onNote(`${line}.`);
}

async function sendRows(
  at: RunToBringIn,
  rows: RowsToBringIn,
  uploads: ReadonlyMap<string, PhotoUpload>,
  { progress, follower }: Following,
): Promise<{ sent: SentCall[]; stopped: unknown }> {
  const { input, deps, taken } = at;
  const { client, clock, signal, newKey } = deps;
  const { run, earlier } = taken;
  progress.begin();
  const follow = (importId: string, count: number) => {
    progress.accepted(count);
    if (input.wait) follower.add(importId);
  };
  for (const { importId, rows } of earlier) if (importId !== null) follow(importId, rows.length);
  const imageIdOf = async (path: string) => {
    const upload = uploads.get(await input.localPhotos.digest(path));
    if (upload === undefined || !("image" in upload)) throw new Error(`the photo ${path} was not uploaded`);
    return upload.image;
  };
  const cut = cutIntoCalls(rows.decided(), { source: input.source, imageIdOf, onKept: rows.keep });
  const sending = await sendCalls(oneAfterTheOther(taken.again(), cut), {
    ...{ client, clock, signal, mode: input.mode, onImageError: input.onImageError },
    ...{ concurrency: input.concurrency },
    journal: new Journal(run, earlier, {
      ...{ clock, newKey, serviceNow: client.serviceNow },
      ...{ file: input.source.name, mode: input.mode, guarded: input.photos === "new" },
    }),
    onAccepted: ({ importId, rows }, createdAt) => {
      const { ledger } = run.state;
      // The first look at changes goes back to the first import.
      if (ledger.lookedAt(run.account) === null) ledger.setLookedAt(run.account, createdAt);
      follow(importId, rows.length);
    },
  });
  progress.allSent();
  return sending;
}

async function* oneAfterTheOther(
  first: AsyncGenerator<ReadyCall>,
  second: AsyncGenerator<Call>,
): AsyncGenerator<Call | ReadyCall> {
  yield* first;
  yield* second;
}

/** Rows of which only fields changed come after those with photos. */
async function patch(at: RunToBringIn, rows: RowsToBringIn) {
  const { input, deps, taken } = at;
  const total = rows.toPatch.size;
  if (total === 0) return { outcomes: [], stopped: undefined };
  let done = 0;
  return patchRows(rows.decided(rows.toPatch), {
    ...{ client: deps.client, run: taken.run, concurrency: input.concurrency, newKey: deps.newKey },
    signal: deps.signal,
    onUnchanged: rows.keep,
    onDone(row) {
      rows.patched.add(row);
      deps.onProgress({ step: "updating fields", done: ++done, total });
    },
  });
}

/** Rows that a later process had to send anew stand between those of an earlier one. */
const inOrderOfFile = (one: SentCall, other: SentCall): number => one.lines[0]! - other.lines[0]!;

/** The calls that an earlier process sent: those that the service accepted, and those that this one did not come to send again. */
function earlierCalls(
  { earlier }: TakenUp,
  { sent, stopped }: { sent: readonly SentCall[]; stopped: unknown },
): SentCall[] {
  const now = new Set(sent.map(({ index }) => index));
  return earlier.flatMap(({ index, rows, lines, bytes, importId }): SentCall[] => {
    const call = { index, rows, lines, bytes };
    if (importId !== null) return [{ ...call, kind: "accepted", importId }];
    return now.has(index) ? [] : [{ ...call, kind: "unknown", error: stopped }];
  });
}
