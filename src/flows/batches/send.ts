import { ApiError, type Problem } from "../../client/api-error.ts";
import type { Client } from "../../client/client.ts";
import type { Clock } from "../../clock.ts";
import type { ImportMode, OnImageError } from "../../contract/value-sets.ts";
import { CatError } from "../../errors.ts";
import type { Call } from "../import/send/calls.ts";
import { isRefusal } from "../service-errors.ts";
import { CallsUnderWay, type CallUnderWay } from "./in-flight.ts";
import type { Journal } from "./journal.ts";
import type { CallProblem, ReadyCall, SentCall, SentRows } from "./sent-batch.ts";

export interface SendDeps {
  client: Client;
  clock: Clock;
  mode: ImportMode;
  onImageError: OnImageError;
  /** How many calls are on their way at once. */
  concurrency: number;
  signal?: AbortSignal | undefined;
  journal: Journal;
  /** Told when the service made the import too, in Unix milliseconds of its own clock. */
  onAccepted: (call: Extract<SentCall, { kind: "accepted" }>, createdAt: number) => void;
}

/**
 * Sends the calls, several at a time, in the order of the file. The first one that is not accepted stops the rest, also
 * those that were begun and wait for their turn: what is wrong with it is likely to be wrong with them, and nothing is
 * lost by asking first. `stopped` is why not all calls were sent, if they were not: the call's error, the interrupt's
 * reason, or a fault of the file or of the state.
 */
export async function sendCalls(
  calls: AsyncGenerator<Call | ReadyCall>,
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
        const call = "idempotencyKey" in next.value ? next.value : deps.journal.begin(next.value);
        const way = underWay.begin();
        const { outcome, createdAt } = await sendCall(call, deps, way);
        underWay.end(way);
        // Before it is written down: where that fails, it is told all the same what became of these rows.
        sent.push(outcome);
        deps.journal.settleSending(outcome);
        if (outcome.kind === "accepted") deps.onAccepted(outcome, createdAt);
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

async function sendCall(
  call: ReadyCall,
  deps: SendDeps,
  way: CallUnderWay,
): Promise<{ outcome: SentCall; createdAt: number }> {
  const { client, mode, onImageError } = deps;
  const { index, rows, lines, bytes, body, idempotencyKey } = call;
  const known = { index, rows, lines, bytes };
  try {
    const input = { mode, on_image_error: onImageError, ndjson: body };
    const { signal, onDoubt } = way;
    const accepted = await client.imports.create(input, { signal, onDoubt, idempotencyKey });
    const outcome = { ...known, kind: "accepted" as const, importId: accepted.id };
    return { outcome, createdAt: Date.parse(accepted.created_at) };
  } catch (error) {
    return { outcome: { ...known, ...failureOf(error, call, way) }, createdAt: Number.NaN };
  }
}

type Failure =
  Exclude<SentCall, { kind: "accepted" }> extends infer Call
    ? Call extends SentRows
      ? Omit<Call, keyof SentRows>
      : never
    : never;

function failureOf(error: unknown, { again, lines }: ReadyCall, way: CallUnderWay): Failure {
  const unsent = again ? "unknown" : "unsent";
  // It is ended with the error of another call, which says nothing about this one.
  if (way.hasLeft) return { kind: unsent, error };
  if (error instanceof CatError && isNothingDone(error, again)) {
    const problems = error instanceof ApiError ? error.problems : [];
    return { kind: "refused", error, problems: problems.map((problem) => inFile(problem, lines)) };
  }
  return { kind: way.inDoubt ? "unknown" : unsent, error };
}

/**
 * Whether an answer says for certain that nothing was done: any refusal (after a 429 nothing was created: Limits). After an
 * attempt without an answer, also one of an earlier process, only a refusal of the body itself is certain, and the one that
 * the service has stored under the key: the others may be given before it looks at the key.
 */
function isNothingDone(error: CatError, again: boolean): boolean {
  const { status, earlierUnanswered } = error;
  if (!isRefusal(error)) return false;
  if (!(earlierUnanswered || again)) return true;
  return error instanceof ApiError && (error.replayed || status === 400 || status === 422);
}

/** The service counts lines of the body it got; people count those of their file. */
const inFile = ({ line, param, code, message }: Problem, lines: Uint32Array): CallProblem => ({
  line: lines[(line ?? 0) - 1] ?? null,
  param,
  code,
  message,
});
