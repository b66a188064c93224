import type { Clock } from "../../clock.ts";
import { TimeoutError } from "../../http/errors.ts";

/** The result of a stage of a run, and the error that stopped it early (undefined if none). */
export interface Stage<Done> {
  done: Done;
  stopped: unknown;
}

/** Runs the next stage, unless the one before it was stopped: then passes that error on. */
export async function after<Done>(
  before: Stage<unknown>,
  nothing: Done,
  next: () => Promise<Stage<Done>>,
): Promise<Stage<Done>> {
  return before.stopped === undefined ? next() : { done: nothing, stopped: before.stopped };
}

/** The reason why some work stopped before its end; undefined for none. */
export const stoppedBy = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

/** A signal for the interrupt and `--timeout` of a job, e.g. an import; null: no timeout. */
export function startTimeLimit(
  job: string,
  timeoutMs: number | null,
  { clock, signal }: { clock: Clock; signal?: AbortSignal | undefined },
): { signal: AbortSignal; release: () => void } {
  const timeLimit = new AbortController();
  const expire = () => {
    const hint =
      "The service keeps processing what it accepted. To resume the rest, run the same command again.";
    const detail = { code: "wait_timeout", hint };
    timeLimit.abort(
      new TimeoutError(`the ${job} did not finish within ${(timeoutMs ?? 0) / 1000} s`, detail),
    );
  };
  const release = timeoutMs === null ? () => {} : clock.at(clock.now() + timeoutMs, expire);
  return {
    signal: signal === undefined ? timeLimit.signal : AbortSignal.any([signal, timeLimit.signal]),
    release,
  };
}
