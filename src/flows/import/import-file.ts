import type { CheckResult } from "../rows/check.ts";
import { checkFile } from "../rows/check.ts";
import { changeOf } from "../rows/source.ts";
import { valueEntries } from "../rows/value-map.ts";
import { type Run, runIdentity, withRun } from "../run/run.ts";
import { after } from "../run/stage.ts";
import { decisive } from "../service-errors.ts";
import { changeFields } from "./change-fields.ts";
import { closeRun, type EndedRun } from "./close-run.ts";
import { isReplaced } from "./earlier-runs.ts";
import { type ImportDeps, type ImportInput, importKind } from "./import-input.ts";
import { type ImportRun, importRun } from "./import-run.ts";
import { prepare } from "./plan.ts";
import { updatedRow } from "./row-result.ts";
import { batchesOfRun, sendRows } from "./send.ts";

export interface ImportOutcome {
  check: CheckResult;
  /** Null when the file was rejected and nothing was sent. */
  ended: EndedRun | null;
}

/** The bulk import: checks the complete file, claims the ledger, settles what earlier runs left, then imports the rows. */
export async function importFile(input: ImportInput, deps: ImportDeps): Promise<ImportOutcome> {
  const started = deps.clock.now();
  const { check, refused } = await checkFile(input.file, deps);
  await deps.onChecked?.(check);
  if (check.unusable || check.valid === 0 || (check.invalid > 0 && !input.skipInvalid)) {
    return { check, ended: null };
  }
  const targets = await deps.targets();
  const { localPhotos, mode, onImageError, photos, file } = input;
  const digests = { file: file.source.digest!, photos: await localPhotos.digestOfAll() };
  const request = {
    noun: "import",
    kind: importKind,
    identity: identityOf(input, digests),
    file: file.source.name,
    options: { mode, onImageError, photos },
    concurrency: input.concurrency,
    timeoutMs: input.timeoutMs,
    sameOrganization: input.sameOrganization,
    alone: true,
    replaces: (begun: Run) => isReplaced(begun, input, deps),
  };
  const ended = await withRun(request, deps, (at) =>
    importRows(importRun(at, targets, check, refused, input, deps)),
  );
  ended.summary.duration_ms = Math.round(deps.clock.now() - started);
  return { check, ended };
}

/**
 * Runs the stages. Each stage records its progress, so a run can be resumed after it ended at any point.
 * After a stage stopped, the later stages that write to the service are skipped; imports already sent are
 * still followed and reported.
 */
async function importRows(run: ImportRun): Promise<EndedRun> {
  const { input, at, rows, follower } = run;
  const preparing = await prepare(run);
  const sending = await after(preparing, [], () => sendRows(run, preparing.done));
  const changing = await after(sending, [], () => changeFields(run));
  const unfollowed = await follower.settled();
  run.progress.settled();
  const sent = batchesOfRun(run, sending);
  const closed = await closeRun(run, {
    sent,
    outsideBatches: [...run.done.map(updatedRow), ...changing.done, ...rows.reported],
    left: changing.stopped === undefined ? null : rows.left(sent),
  });
  // After an interrupt, other steps fail with their own errors; the interrupt is the reason to report.
  const stopped: unknown = at.signal.aborted
    ? at.signal.reason
    : (changing.stopped ?? decisive(unfollowed, closed.stopped));
  return {
    ...closed,
    stopped,
    sent,
    changed: stopped === undefined ? null : await changeOf(input.file.source),
  };
}

/**
 * Identifies an import across restarts: the bytes of the file and its photos, and every option that changes
 * what is sent. Paths and output options do not count. Digests are SHA-256 (hex).
 */
function identityOf(input: ImportInput, digests: { file: string; photos: string }): string {
  const { mode, onImageError, photos, skipInvalid } = input;
  const { read, source } = input.file;
  const map = [...input.map].sort(([left], [right]) => (left < right ? -1 : 1));
  const { delimiter = null, encoding = null } = read;
  const sent = [mode, onImageError, photos, skipInvalid, source.format, delimiter, encoding, map];
  // Runs without such values keep the identity that they had before there were any.
  const values = input.values.size === 0 ? [] : [valueEntries(input.values).sort()];
  const added = input.addedPhotos === undefined ? [] : [input.addedPhotos];
  return runIdentity([digests.file, digests.photos, ...sent, ...values, ...added]);
}
