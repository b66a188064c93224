import { ApiError, type Problem } from "../../client/api-error.ts";
import type { Client } from "../../client/client.ts";
import type { Clock } from "../../clock.ts";
import type { ImportMode, OnImageError } from "../../contract/value-sets.ts";
import { CatError } from "../../errors.ts";
import type { Call } from "./calls.ts";
import { CallsUnderWay, type CallUnderWay } from "./under-way.ts";

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
 * Sends the calls, several at a time, in the order of the file. The first one that is not accepted stops the rest, also
 * those that were begun and wait for their turn: what is wrong with it is likely to be wrong with them, and nothing is
 * lost by asking first. `stopped` is why not all calls were sent, if they were not: the call's error, the interrupt's
 * reason, or a fault of the file.
 */
export async function sendCalls(
  calls: AsyncGenerator<Call>,
  deps: SendDeps,
): Promise<{ sent: SentCall[]; stopped: unknown }> {
  const sent: SentCall[] = [];
  let stopped: unknown;
  const underWay = new CallsUnderWay();
  const release = underWay.follow(deps.clock, deps.signal);
  const stop = (reason: unknown) => {
    stopped ??= reason;
    underWay.leave(reason);
  };
  const worker = async () => {
    try {
      while (stopped === undefined) {
        deps.signal?.throwIfAborted();
        const next = await calls.next();
        // What came between while the call was cut stops it as well.
        deps.signal?.throwIfAborted();
        if (next.done || stopped !== undefined) return;
        const way = underWay.begin();
        const outcome = await sendCall(next.value, deps, way);
        underWay.end(way);
        sent.push(outcome);
        if (outcome.kind === "accepted") deps.onAccepted(outcome);
        else stop(outcome.error);
      }
    } catch (error) {
      stop(error);
    }
  };
  await Promise.all(Array.from({ length: deps.concurrency }, worker));
  release();
  await calls.return(undefined);
  return { sent: sent.sort((one, other) => one.index - other.index), stopped };
}

async function sendCall({ index, body, lines }: Call, deps: SendDeps, way: CallUnderWay): Promise<SentCall> {
  const { client, mode, onImageError } = deps;
  const call = { index, lines, bytes: body.length };
  try {
    const input = { mode, on_image_error: onImageError, ndjson: body };
    const { signal, onDoubt } = way;
    const accepted = await client.imports.create(input, { signal, onDoubt });
    return { ...call, kind: "accepted", importId: accepted.id };
  } catch (error) {
    // It is ended with the error of another call, which says nothing about this one.
    if (way.hasLeft) return { ...call, kind: "unsent", error };
    if (error instanceof CatError && isDefinitive(error)) {
      const problems = error instanceof ApiError ? error.problems : [];
      return { ...call, kind: "refused", error, problems: problems.map((problem) => inFile(problem, lines)) };
    }
    return { ...call, kind: way.inDoubt ? "unknown" : "unsent", error };
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
