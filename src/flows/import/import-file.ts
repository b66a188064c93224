import { TimeoutError } from "../../http/errors.ts";
import { bringIn } from "./bring-in.ts";
import { type CheckResult, checkFile } from "./check.ts";
import type { EndedRun } from "./ended-run.ts";
import type { ImportDeps, ImportInput } from "./import-input.ts";
import { takeUpRun } from "./resume/take-up.ts";
import { RowSet } from "./row-set.ts";

export interface ImportOutcome {
  check: CheckResult;
  /** Null when the file was refused and nothing was sent. */
  ended: EndedRun | null;
}

/** The bulk import: check the file, take up the run if it was begun before, and bring its rows in. */
export async function importFile(input: ImportInput, deps: ImportDeps): Promise<ImportOutcome> {
  const started = deps.clock.now();
  const refused = new RowSet();
  const check = await checkFile(input.source, input.read, {
    ...deps,
    localPhotos: input.localPhotos,
    onRefused: (row) => refused.add(row),
    onProgress: (done) => deps.onProgress({ step: "checking", done, total: null }),
  });
  if (check.unusable || check.valid === 0 || (check.invalid > 0 && !input.skipInvalid)) {
    return { check, ended: null };
  }
  const targets = await deps.targets();
  const client = await deps.client();
  const patience = waitFor(input.timeoutMs, deps);
  try {
    const at = { ...deps, client, signal: patience.signal, unknown: toldOnce(input.unknown) };
    const taken = await takeUpRun(input, at);
    try {
      const ended = await bringIn({ input, deps: at, targets, check, refused, taken });
      ended.summary.duration_ms = Math.round(deps.clock.now() - started);
      return { check, ended };
    } finally {
      taken.release();
    }
  } finally {
    patience.release();
  }
}

function toldOnce<Value>(value: Value | undefined): () => Value | undefined {
  let left = value;
  return () => {
    const now = left;
    left = undefined;
    return now;
  };
}

/** A signal for the interrupt and for the end of the user's patience (`--timeout`). */
function waitFor(
  timeoutMs: number | null,
  { clock, signal }: ImportDeps,
): { signal: AbortSignal; release: () => void } {
  const patience = new AbortController();
  const expire = () => {
    const hint =
      "What the service has accepted goes on there. Give the same command again to go on with the rest.";
    const detail = { code: "wait_timeout", hint };
    patience.abort(new TimeoutError(`the import had not ended after ${(timeoutMs ?? 0) / 1000} s`, detail));
  };
  const release = timeoutMs === null ? () => {} : clock.at(clock.now() + timeoutMs, expire);
  return {
    signal: signal === undefined ? patience.signal : AbortSignal.any([signal, patience.signal]),
    release,
  };
}
