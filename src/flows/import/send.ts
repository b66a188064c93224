import { ApiError, type Problem } from "../../client/api-error.ts";
import type { Client } from "../../client/client.ts";
import type { Clock } from "../../clock.ts";
import type { ImportMode, OnImageError } from "../../contract/value-sets.ts";
import { CatError } from "../../errors.ts";
import type { Call } from "./calls.ts";

/** What the service found wrong: with the row of that line of the user's file, or with the call as a whole (null). */
export interface CallProblem {
  line: number | null;
  param?: string | undefined;
  code: string;
  message: string;
}

/** What became of a call that was cut. `bytes` is the size of its body. */
export type SentCall = { index: number; lines: Uint32Array; bytes: number } & (
  | { kind: "accepted"; importId: string }
  /** The service said no; nothing of the call was created. */
  | { kind: "refused"; error: CatError; problems: CallProblem[] }
  /** No answer, or none that says what happened: the service may have accepted it. */
  | { kind: "unknown"; error: unknown }
  /** The service never saw it, or did nothing with it (429): it was waiting to be sent when the run ended, or could not be. */
  | { kind: "unsent"; error: unknown }
);

/** How long an interrupt waits for calls on their way: a call that is cut off leaves its outcome unknown. */
const graceMs = 3_000;

export interface SendDeps {
  client: Client;
  clock: Clock;
  mode: ImportMode;
  onImageError: OnImageError;
  /** How many calls are on their way at once. */
  concurrency: number;
  signal?: AbortSignal | undefined;
  onAccepted: (call: Extract<SentCall, { kind: "accepted" }>) => void;
}

/**
 * Sends the calls, several at a time, in the order of the file. The first one that is not accepted stops the rest:
 * what is wrong with it is likely to be wrong with them, and nothing is lost by asking first. `stopped` is why not all
 * calls were sent, if they were not: the call's error, the interrupt's reason, or a fault of the file.
 */
export async function sendCalls(
  calls: AsyncGenerator<Call>,
  deps: SendDeps,
): Promise<{ sent: SentCall[]; stopped: unknown }> {
  const sent: SentCall[] = [];
  let stopped: unknown;
  const late = afterGrace(deps);
  const worker = async () => {
    try {
      while (stopped === undefined) {
        deps.signal?.throwIfAborted();
        const next = await calls.next();
        // What came between while the call was cut stops it as well.
        deps.signal?.throwIfAborted();
        if (next.done || stopped !== undefined) return;
        const outcome = await sendCall(next.value, { ...deps, signal: late.signal });
        sent.push(outcome);
        if (outcome.kind === "accepted") deps.onAccepted(outcome);
        else stopped ??= outcome.error;
      }
    } catch (error) {
      stopped ??= error;
    }
  };
  await Promise.all(Array.from({ length: deps.concurrency }, worker));
  late.release();
  await calls.return(undefined);
  return { sent: sent.sort((one, other) => one.index - other.index), stopped };
}

async function sendCall({ index, body, lines }: Call, deps: SendDeps): Promise<SentCall> {
  const { client, mode, onImageError, signal } = deps;
  const call = { index, lines, bytes: body.length };
  let inDoubt = true;
  const onDoubt = (now: boolean) => {
    inDoubt = now;
  };
  try {
    const input = { mode, on_image_error: onImageError, ndjson: body };
    const accepted = await client.imports.create(input, { signal, onDoubt });
    return { ...call, kind: "accepted", importId: accepted.id };
  } catch (error) {
    if (error instanceof CatError && isDefinitive(error)) {
      const problems = error instanceof ApiError ? error.problems : [];
      return { ...call, kind: "refused", error, problems: problems.map((problem) => inFile(problem, lines)) };
    }
    return { ...call, kind: inDoubt ? "unknown" : "unsent", error };
  }
}

/**
 * Whether an answer says for certain that nothing was done: any 4xx (after a 429 nothing was created: Limits), but not
 * the 409 that says the first attempt is still being worked on (Cross-cutting rule 4). After an attempt without an answer
 * only a refusal of the body itself is certain: the others are given before the service looks at the idempotency key.
 */
function isDefinitive(error: CatError): boolean {
  const { status = 0, code, earlierUnanswered } = error;
  if (status < 400 || status >= 500 || code === "request_in_progress") return false;
  return !earlierUnanswered || (error instanceof ApiError && (status === 400 || status === 422));
}

/** The service counts lines of the body it got; people count those of their file. */
const inFile = ({ line, param, code, message }: Problem, lines: Uint32Array): CallProblem => ({
  line: lines[(line ?? 0) - 1] ?? null,
  param,
  code,
  message,
});

/** A signal that follows the interrupt after the time of grace. */
function afterGrace({ clock, signal }: SendDeps): { signal: AbortSignal; release: () => void } {
  const late = new AbortController();
  let cancel = () => {};
  const onInterrupt = () => {
    cancel = clock.at(clock.now() + graceMs, () => late.abort(signal?.reason));
  };
  signal?.addEventListener("abort", onInterrupt, { once: true });
  const release = () => {
    signal?.removeEventListener("abort", onInterrupt);
    cancel();
  };
  return { signal: late.signal, release };
}
