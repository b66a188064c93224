import { CatError } from "../../errors.ts";
import type { OutputTargets } from "../outputs/results-file.ts";
import { type CheckResult, checkFile, isRejected } from "../rows/check.ts";
import { valueEntries } from "../rows/mapped-columns.ts";
import { FirstUses, type RejectedRows } from "../rows/row-sets.ts";
import { changeError, InputError } from "../rows/source.ts";
import type { ServiceIdentity } from "../run/account.ts";
import { shownTime } from "../run/clocks.ts";
import { type Run, runIdentity, withRun } from "../run/run.ts";
import { dropUntouched } from "../run/send.ts";
import { after } from "../run/stage.ts";
import { decisive } from "../service-errors.ts";
import { shownName } from "../words.ts";
import { changeProducts } from "./change-products.ts";
import { closeImport, type EndedImport } from "./close-run.ts";
import { isReplaced } from "./earlier-runs.ts";
import { confirmDoubts } from "./guards.ts";
import {
  type CheckedFile,
  type FileToImport,
  type ImportInput,
  importKind,
  type PlanToApply,
} from "./import-input.ts";
import { type ImportRun, importRun } from "./import-run.ts";
import { planAgain, prepare } from "./prepare.ts";
import { toPlace } from "./said-rows.ts";
import { batchesOfRun, importOperation, sendRows } from "./send.ts";

export interface ImportOutcome {
  check: CheckResult;
  /** Null when the file was rejected and nothing was sent. */
  ended: EndedImport | null;
}

export interface ImportsOutcome {
  /** By file; if some were imported, those after one that was stopped have no end: they did not start. */
  readonly outcomes: readonly ImportOutcome[];
  /** The error that stopped a file before it began, after others were imported; undefined without one. */
  readonly unbegun: unknown;
}

/** Checks all files in full, then imports each in its own run; a stop ends all. One file per reference. */
export async function importFiles(files: readonly FileToImport[]): Promise<ImportsOutcome> {
  const checked = await checkFiles(files);
  const outcomes = checked.map(({ check }): ImportOutcome => ({ check, ended: null }));
  if (checked.some(({ check, input }) => isRejected(check, input))) return { outcomes, unbegun: undefined };
  await confirmDoubts(checked);
  // An output that cannot be written is reported before anything is sent.
  const targets: OutputTargets[] = [];
  for (const { host } of files) targets.push(await host.targets());
  for (const [index, file] of checked.entries()) {
    try {
      const ended = await importChecked(file, targets[index]!);
      outcomes[index]!.ended = ended;
      if (ended.stopped !== undefined) break;
    } catch (error) {
      if (index === 0) throw error;
      return { outcomes, unbegun: error };
    }
  }
  return { outcomes, unbegun: undefined };
}

export async function checkFiles(files: readonly FileToImport[]): Promise<CheckedFile[]> {
  const checked: CheckedFile[] = [];
  let firstUses: FirstUses | undefined;
  for (const { input, host } of files) {
    firstUses ??= new FirstUses(host.random);
    const started = host.clock.now();
    const { check, rejectedRows } = await checkFile(input.file, {
      ...host,
      firstUses,
      skipsInvalid: input.skipInvalid,
    });
    await host.onChecked?.(check);
    checked.push({ input, host, check, rejectedRows, tookMs: host.clock.now() - started });
  }
  return checked;
}

/** Claims the ledger, settles what earlier runs left, then imports the rows. */
async function importChecked(file: CheckedFile, targets: OutputTargets): Promise<EndedImport> {
  const { input, host, check, tookMs } = file;
  const started = host.clock.now() - tookMs;
  const { identity, ...asked } = await toRequest(file);
  const { applies } = input;
  if (applies !== undefined) rejectForeign(applies, input, identity, (await host.memory()).service);
  const request = {
    ...asked,
    // An import of the same file is another run.
    identity: applies === undefined ? identity : runIdentity(["plan", applies.id, identity]),
    once: applies !== undefined,
    replaces: (begun: Run) => isReplaced(begun, input, host),
  };
  const ended = await withRun(request, host, async (at) => {
    if (at.isFinished) throw at.state.changes.isUndone(at.id) ? undonePlan() : alreadyApplied(at.begunAt!);
    at.state.changes.forgetRead(at.account);
    await dropUntouched(at, importOperation(at.client, input), started);
    const imported = await importRows(
      importRun(at, { ...file, check: withoutDone(check, at, input) }),
      targets,
    );
    forgetOldChanges(at);
    return imported;
  });
  ended.summary.duration_ms = Math.round(host.clock.now() - started);
  return ended;
}

/** Forgets what undoes old imports, by the clock of the service: the one of this machine may be ahead. */
function forgetOldChanges({ state, account, client }: Run): void {
  const now = client.serviceNow();
  if (now !== null) state.changes.forgetOld(account, { runs: undoableRuns, since: now - undoableForMs });
}

/** Throws an InputError for a plan of another service, account, file or way to read it. */
function rejectForeign(
  plan: PlanToApply,
  { file: { source }, sameOrganization }: ImportInput,
  identity: string,
  service: ServiceIdentity,
): void {
  const name = shownName(source.name);
  const foreign = (why: string, hint = "Plan again, and apply that plan.") =>
    new InputError(why, "foreign_plan", hint);
  if (plan.baseUrl !== service.baseUrl)
    throw foreign(`the plan is for ${plan.baseUrl}, not for ${service.baseUrl}`);
  if (plan.account !== service.keyFingerprint && !sameOrganization)
    throw foreign(
      "the plan was made with another API key, which may be of another organization",
      "If both keys belong to one organization, add --same-organization. If not, plan again.",
    );
  if (plan.fileSha256 !== source.digest)
    throw foreign(`${name} is not the file that was planned: its content differs`);
  if (plan.identity !== identity)
    throw foreign(`the photos of ${name}, or the mapping of its columns, changed since the plan was made`);
}

/** How long, and for how many imports, what they changed is kept. */
const undoableForMs = 30 * 24 * 60 * 60_000;
const undoableRuns = 10;

const alreadyApplied = (begunAt: number): CatError =>
  new CatError(`the plan was applied in the run of ${shownTime(begunAt)}; nothing to do`, {
    type: "usage",
    code: "plan_applied",
  });

const undonePlan = (): CatError =>
  new CatError("the plan was applied, and undone since", {
    type: "input",
    code: "plan_undone",
    hint: "Plan again, and apply that plan.",
  });

export async function toRequest({ input, rejectedRows }: CheckedFile) {
  const { localPhotos, mode, onImageError, photos } = input;
  const { source } = input.file;
  const digests = { file: source.digest!, photos: await localPhotos.digestOfAll() };
  return {
    noun: "import",
    kind: importKind,
    identity: toIdentity(input, rejectedRows, digests),
    file: source.name,
    options: {
      mode,
      onImageError,
      photos,
      ...(toPlace(source) !== null && { place: toPlace(source)! }),
    },
    concurrency: input.concurrency,
    timeoutMs: input.timeoutMs,
    sameOrganization: input.sameOrganization,
    alone: true,
  };
}

/** The check, without rows beyond a limit that an earlier run of the file has imported. */
const withoutDone = (
  check: CheckResult,
  { isRepeated }: Run,
  { mode, photos, exact = false }: ImportInput,
): CheckResult =>
  // Other modes send the rows again, and --exact compares them with the products as they are now.
  isRepeated && check.left !== undefined && mode === "upsert" && photos === "new" && !exact
    ? { ...check, left: 0 }
    : check;

/**
 * Runs the stages, each of which records its progress, so that a run can be resumed at any point; a stop
 * skips later writes, but imports already sent are still followed and reported.
 */
async function importRows(run: ImportRun, targets: OutputTargets): Promise<EndedImport> {
  const { input, at, rows, follower } = run;
  const preparing = await prepare(run);
  const sending = await after(preparing, [], () => sendRows(run, preparing.done, planAgain));
  const changing = await after(sending, undefined, () => changeProducts(run, { inBatches: false }));
  const unfollowed = await follower.settled();
  const editing = await after(changing, undefined, () => changeProducts(run, { inBatches: true }));
  run.progress.settled();
  const sent = batchesOfRun(run, sending);
  const left = changing.stopped === undefined ? null : rows.left(sent);
  const closed = await closeImport(run, targets, { sent, left });
  // After an interrupt, other steps fail with their own errors; the interrupt is the reason to report.
  const stopped: unknown = at.signal.aborted
    ? at.signal.reason
    : (editing.stopped ?? decisive(unfollowed, closed.stopped));
  return {
    ...closed,
    stopped,
    changed: stopped === undefined ? null : await changeError(input.file.source),
  };
}

/**
 * Identifies an import across restarts: the bytes of the file and its photos (SHA-256, hex) and every option
 * that changes what is sent, so no paths or output options.
 */
function toIdentity(
  input: ImportInput,
  { repeatingOthers }: RejectedRows,
  digests: { file: string; photos: string },
): string {
  const { mode, onImageError, photos, skipInvalid } = input;
  const { read, source } = input.file;
  const map = [...input.map].sort(([a], [b]) => (a < b ? -1 : 1));
  const { delimiter = null, encoding = null } = read;
  const sent = [mode, onImageError, photos, skipInvalid, source.format, delimiter, encoding, map];
  // Runs without such values keep the identity that they had before there were any.
  const values = input.values.size === 0 ? [] : [valueEntries(input.values).sort()];
  const added = input.addedPhotos === undefined ? [] : [input.addedPhotos];
  const { exact = false, conflicts = null } = input;
  const choices: object[] = exact || conflicts !== null ? [{ exact, conflicts }] : [];
  if (input.file.merged !== undefined) choices.push({ mergeRows: true });
  if (skipInvalid && input.codesAsWritten) choices.push({ codesAsWritten: true });
  // Which rows are skipped depends on the other files.
  const others = repeatingOthers.length === 0 ? [] : [{ repeatingOthers }];
  return runIdentity([digests.file, digests.photos, ...sent, ...values, ...added, ...others, ...choices]);
}
