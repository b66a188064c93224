import { ApiError } from "../client/api-error.ts";
import { CatError } from "../errors.ts";
import { BadResponseError } from "../http/errors.ts";

/** Whether all further requests will fail: the key is no longer valid, or lacks the scope. */
export const isOfCaller = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 401 || error.status === 403);

/** Whether the key lacks the scope to read. */
export const mayNotRead = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.code === "insufficient_scope";

/** The error to report of several: a rejected key, which ends everything, otherwise the first one. */
export const decisive = (...errors: readonly unknown[]): unknown =>
  errors.find(isOfCaller) ?? errors.find((error) => error !== undefined);

/**
 * Whether an error that outlasted all retries is likely to affect all further requests: of the network or the
 * service.
 */
export const isServiceFailure = (error: unknown): boolean =>
  error instanceof CatError &&
  (error.type === "network" ||
    error.type === "timeout" ||
    error.type === "bad_response" ||
    (error.status !== undefined && (error.status >= 500 || error.status === 429)));

/** The codes which say that the service has had the key before: it may have done what was asked. */
const ofKnownKeys: readonly (string | undefined)[] = ["request_in_progress", "idempotency_key_reused"];

/** Whether the service has had the key with another body: a connection has damaged one of them. */
export const isKeyTaken = (error: unknown): boolean =>
  error instanceof CatError && error.code === "idempotency_key_reused";

/**
 * Whether the service rejected the request: any 4xx with its envelope, except for a key that it has had
 * before: while a first attempt is in progress, and with another body, which a connection has damaged
 * (Cross-cutting rules 3, 4). Without the envelope the outcome is unknown: a gateway may have passed it on.
 */
export const isRejectedByService = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.status < 500 && !ofKnownKeys.includes(error.code);

/**
 * Whether a rejection proves that nothing was done: any one (after a 429 nothing was created: Limits). After
 * an attempt without a response, even by an earlier process (`again`), only two do: of the body itself, and
 * the one stored under the key. The service may respond with the others before it checks the key.
 */
export const isNothingDone = (error: unknown, again = false): error is ApiError =>
  isRejectedByService(error) &&
  (!(error.earlierUnanswered || again) || error.replayed || error.status === 400 || error.status === 422);

/**
 * Whether the content was rejected, rather than the caller or the timing: the same content would be rejected
 * again.
 */
export const isOfContent = (error: unknown): error is ApiError =>
  error instanceof ApiError && [400, 413, 415, 422].includes(error.status);

/**
 * Whether a rejection is one that the service has stored under the key of an earlier attempt, and that says
 * nothing about the content, e.g. a 402 from before topping up: another key may be accepted now
 * (Cross-cutting rule 5).
 */
export const isOfEarlierTime = (error: unknown): boolean =>
  error instanceof ApiError && error.replayed && error.status !== 404 && !isOfContent(error);

/** The response to a write; `odd`: its error, thrown once the write was recorded. */
export interface AcceptedReply<Reply> {
  readonly reply: Reply;
  readonly odd?: BadResponseError;
}

/**
 * Waits for a write. What the service has done is known if its response has what `hasWhat` asks for (default:
 * an ID), whatever else is wrong with it: it is recorded before anything else is looked at. Throws the error
 * of any other response.
 */
export async function carriedOut<Reply>(
  write: Promise<Reply>,
  hasWhat: (reply: Partial<Reply>) => boolean = hasId,
): Promise<AcceptedReply<Reply>> {
  try {
    return { reply: await write };
  } catch (error) {
    if (!(error instanceof BadResponseError) || error.reply === undefined) throw error;
    const { message, code, status, requestId, reply } = error;
    if (!hasWhat(reply as Partial<Reply>)) throw error;
    const hint = "The service has carried out the request. Report this message to the service.";
    return { reply: reply as Reply, odd: new BadResponseError(message, { code, status, requestId, hint }) };
  }
}

/** Whether a resource has an ID that can be recorded. */
export const hasId = (resource: object | null | undefined): boolean => {
  const { id } = (resource ?? {}) as { id?: unknown };
  return typeof id === "string" && /^[\w-]{1,64}$/.test(id);
};

/** The response of the service; null for a 404. Throws any other error. */
export async function orNull<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

/** Whether the service does not have what a request names. */
export const isNotFound = (error: unknown): boolean => error instanceof ApiError && error.status === 404;
