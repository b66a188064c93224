import type { ClientOperation } from "../contract/client-operations.ts";
import { creditHeaders, errorTypes } from "../contract/error-codes.ts";
import { readAs } from "../contract/response-shape.ts";
import { BadResponseError } from "../http/errors.ts";
import { isJsonType } from "../http/response-stream.ts";
import { retryAfterMs } from "../http/retry.ts";
import { type Answer, isWrite, type Message, readHeader, requestName } from "../http/send.ts";
import { isObject } from "../json.ts";
import { ApiError, type Credits, type ErrorBody, type Problem } from "./api-error.ts";

/** The parsed body by the contract; throws an ApiError, or a BadResponseError if a gateway responded. */
export function readResponse(
  operation: ClientOperation,
  message: Message,
  answer: Answer,
  now: number,
): unknown {
  const about = { message, answer, now };
  if (answer.status >= 400) throw responseError(operation.listsProblems, about);
  if (operation.reply === null) {
    // A login page may respond to a DELETE with 200: only the documented status counts as done.
    if (answer.status === operation.status && answer.body.length === 0) return null;
    throw badResponse(about, "an unexpected status or body", "wrong_shape");
  }
  const { value, mismatch } = readAs(operation.reply, cutJson(about));
  rejectDeep(about);
  if (mismatch === undefined) return value;
  const where = mismatch.path === "" ? "" : ` at ${mismatch.path}`;
  throw badResponse(about, `a body of an unexpected shape${where}: ${mismatch.message}`, "wrong_shape");
}

/** A response, the request that it belongs to, and the time of its arrival in milliseconds. */
export interface About {
  message: Message;
  answer: Answer;
  now: number;
}

/** The problems of a body; null for none. A missing code or message is filled in. */
function parseProblems(json: unknown): Problem[] | null {
  const { errors } = (json ?? {}) as { readonly errors?: unknown };
  if (!Array.isArray(errors) || errors.length === 0 || !errors.every(isObject)) return null;
  return errors.map(({ line, input_index, type, code, message, param, ...rest }) => ({
    ...(Number.isSafeInteger(line) && { line: line as number }),
    ...(Number.isSafeInteger(input_index) && { input_index: input_index as number }),
    ...(typeof type === "string" && { type }),
    code: typeof code === "string" ? code : "invalid_request",
    message: typeof message === "string" ? message : "rejected without a message",
    ...(typeof param === "string" && { param }),
    ...rest,
  }));
}

/** The error of a response from 400 on; `listsProblems`: the operation may list all problems of its input. */
export function responseError(listsProblems: boolean, about: About): ApiError | BadResponseError {
  let json: unknown;
  try {
    json = cutJson(about);
  } catch (error) {
    if (error instanceof BadResponseError) return error;
    throw error;
  }
  const { message, answer } = about;
  // A read is shown as far as possible: nothing depends on who responded.
  if (!(isEnvelope(json, answer.status) || (!isWrite(message) && hasType(json)))) {
    return badResponse(about, "an error without the service's envelope", "wrong_shape");
  }
  const rejection = {
    request: requestName(message),
    status: answer.status,
    requestId: readHeader(answer, "x-request-id"),
    earlierUnanswered: answer.earlierUnanswered,
    replayed: readHeader(answer, "idempotent-replayed") === "true",
    hint: whenAgain(about),
  };
  const problems = listsProblems ? parseProblems(json) : null;
  if (problems !== null) {
    const first = problems[0]!;
    const count = problems.length === 1 ? "" : ` (and ${problems.length - 1} more)`;
    const body = { type: first.type ?? "invalid_request", code: first.code, message: first.message + count };
    return new ApiError({ ...rejection, body, problems });
  }
  const { error } = json as { error?: { type: string } };
  if (error === undefined) return badResponse(about, "an unexpected list of problems", "wrong_shape");
  return new ApiError({
    ...rejection,
    body: toErrorBody(error, answer.status),
    credits: parseCredits(answer),
  });
}

/** The credits of a 402; null if it does not report them. */
function parseCredits(answer: Answer): Credits | null {
  if (answer.status !== 402) return null;
  const [needed, remaining] = [creditHeaders.needed, creditHeaders.left].map((name) => {
    const text = readHeader(answer, name.toLowerCase()) ?? "";
    return /^\d{1,12}$/.test(text) ? Number(text) : null;
  }) as [number | null, number | null];
  return needed === null || remaining === null ? null : { needed, left: remaining };
}

const hasType = (json: unknown): boolean =>
  isText((json as { error?: { type?: unknown } } | null)?.error?.type);

/** The error of an envelope; what it lacks apart from its type is derived. */
function toErrorBody({ type, ...given }: { readonly type: string }, status: number): ErrorBody {
  const { code, message, param, ...rest } = given as Record<string, unknown>;
  return {
    ...rest,
    type,
    code: isText(code) ? code : type,
    message: isText(message) ? message : `the service responded with status ${status}`,
    ...(isText(param) ? { param } : {}),
  };
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

/** A hint with the waiting time of a temporary error. */
function whenAgain({ answer, now }: About): string | undefined {
  const waitMs = retryAfterMs(answer, now);
  if (waitMs === null || (answer.status !== 429 && answer.status !== 503)) return undefined;
  const seconds = Math.ceil(waitMs / 1000);
  if (seconds < 120) return `Try again in ${Math.max(1, seconds)} s.`;
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 60) return `Try again in ${minutes} min.`;
  const rest = minutes % 60;
  return `Try again in ${Math.floor(minutes / 60)} h${rest === 0 ? "" : ` ${rest} min`}.`;
}

/** The body as JSON of any shape. Throws a BadResponseError for anything else. */
export function readBody(about: About): unknown {
  const json = cutJson(about);
  rejectDeep(about);
  return json;
}

function rejectDeep(about: About): void {
  if (about.answer.isDeep === true)
    throw badResponse(about, "JSON nested deeper than 100 levels", "wrong_shape");
}

/** The same, with null for what is nested too deeply: an error of the service says enough. */
function cutJson(about: About): unknown {
  const { answer } = about;
  const type = readHeader(answer, "content-type");
  const encoding = readHeader(answer, "content-encoding") ?? "identity";
  if (encoding !== "identity")
    throw badResponse(about, `an unrequested compression (${encoding})`, "not_json");
  if (type !== undefined && !isJsonType(type)) {
    throw badResponse(about, `${contentKind(type)}, not JSON`, "not_json");
  }
  if (answer.body.length === 0) throw badResponse(about, "an empty body", "empty_response");
  if (answer.json === undefined) throw badResponse(about, "incomplete or invalid JSON", "not_json");
  return answer.json;
}

const contentKind = (contentType: string): string => {
  const type = contentType.split(";", 1)[0]!.trim().toLowerCase();
  if (type === "text/html" || type === "application/xhtml+xml") return "HTML";
  return /^[\w.+-]+\/[\w.+-]+$/.test(type) ? type : "an unknown content type";
};

function badResponse({ message, answer }: About, how: string, code: string): BadResponseError {
  const requestId = readHeader(answer, "x-request-id");
  const { origin } = message;
  const isDone = isWrite(message) && answer.status < 300 && isObject(answer.json);
  return new BadResponseError(`${origin} sent ${how} (${requestName(message)}, status ${answer.status})`, {
    code,
    status: answer.status,
    requestId,
    earlierUnanswered: answer.earlierUnanswered,
    ...(isDone && { reply: answer.json as object }),
    hint:
      answer.status === 413
        ? `Raise the limit for request bodies of the gateway in front of ${origin}, for example client_max_body_size of nginx.`
        : isWrite(message)
          ? `Check that ${origin} is the base URL of the service and that no gateway blocks ${message.method} requests.`
          : `Check that ${origin} is the base URL of the service.`,
  });
}

/** Of the service: an error envelope, JSON or nothing (204). A gateway may have passed the request on. */
export const isOfService = ({ status, body, json }: Answer): boolean =>
  status >= 400 ? isEnvelope(json, status) : json !== undefined || (status === 204 && body.length === 0);

/**
 * Whether JSON is an error of the service (Errors): `error` with a type of its own, a code and a message, or
 * for a 400 the list of problems by line or input. Gateways have errors in JSON as well, but without these
 * fields.
 */
export function isEnvelope(json: unknown, status: number): boolean {
  const { error, errors } = (json ?? {}) as { error?: unknown; errors?: unknown };
  if (typeof error === "object" && error !== null) {
    const { type, code, message } = error as { type?: unknown; code?: unknown; message?: unknown };
    return isErrorType(type) && typeof code === "string" && code !== "" && typeof message === "string";
  }
  return status === 400 && Array.isArray(errors) && errors.some(isProblem);
}

const isProblem = (entry: unknown): boolean =>
  typeof entry === "object" && entry !== null && ("line" in entry || "input_index" in entry);

const isErrorType = (type: unknown): boolean => (errorTypes as readonly unknown[]).includes(type);
