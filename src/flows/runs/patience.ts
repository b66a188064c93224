import type { Clock } from "../../clock.ts";
import { TimeoutError } from "../../http/errors.ts";

/** A signal for the interrupt and for the end of the user's patience (`--timeout`), after `timeoutMs`; null is endless. */
export function patienceOf(
  timeoutMs: number | null,
  { clock, signal }: { clock: Clock; signal?: AbortSignal | undefined },
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
