import * as z from "zod";
import { ErrorEnvelope } from "../contract/error-codes.ts";
import { asRead } from "../contract/response-values.ts";
import { BadAnswerError } from "../http/errors.ts";
import { retryAfterMs } from "../http/retry-after.ts";
import { type Answer, headerOf, type Message, nameOf } from "../http/send.ts";
import { ApiError, type Problem } from "./api-error.ts";
import type { AnyOperation } from "./call-types.ts";

/**
 * Reads an answer by the contract: the parsed body, or an ApiError, or a BadAnswerError when it is not the service's.
 * `now` is when it came, in milliseconds.
 */
export function readAnswer(operation: AnyOperation, message: Message, answer: Answer, now: number): unknown {
  const about = { message, answer, now };
  if (answer.status >= 400) throw refusalOf(operation, about);
  if (operation.reply === null) {
    // A login page answers a DELETE with 200: only what the contract says counts as done.
    if (answer.status === operation.status && answer.body.length === 0) return null;
    throw badAnswer(about, "otherwise than the service does when it is done", "wrong_shape");
  }
  const parsed = asRead(operation.reply).safeParse(jsonOf(about));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? "" : ` at ${issue.path.join(".")}`;
  throw badAnswer(about, `with another shape than the service's${where}: ${issue?.message}`, "wrong_shape");
}

interface About {
  message: Message;
  answer: Answer;
  now: number;
}

const RefusalList = z.looseObject({
  errors: z
    .array(
      z.looseObject({
        line: z.int().optional(),
        input_index: z.int().optional(),
        type: z.string().optional(),
        code: z.string(),
        message: z.string(),
        param: z.string().optional(),
      }),
    )
    .min(1),
});

function refusalOf(operation: AnyOperation, about: About): ApiError | BadAnswerError {
  let json: unknown;
  try {
    json = jsonOf(about);
  } catch (error) {
    if (error instanceof BadAnswerError) return error;
    throw error;
  }
  const { message, answer } = about;
  const refusal = {
    request: nameOf(message),
    status: answer.status,
    requestId: headerOf(answer, "x-request-id"),
    earlierUnanswered: answer.earlierUnanswered,
    replayed: headerOf(answer, "idempotent-replayed") === "true",
    hint: whenAgain(about),
  };
  const envelope = ErrorEnvelope.safeParse(json);
  if (envelope.success) return new ApiError({ ...refusal, body: envelope.data.error });

  const list = operation.refusalList === undefined ? null : RefusalList.safeParse(json);
  if (list?.success) {
    const problems = list.data.errors as Problem[];
    const first = problems[0]!;
    const count = problems.length === 1 ? "" : ` (and ${problems.length - 1} more)`;
    const body = { type: first.type ?? "invalid_request", code: first.code, message: first.message + count };
    return new ApiError({ ...refusal, body, problems });
  }
  return badAnswer(about, "without the service's error envelope", "wrong_shape");
}

/** What a refusal for the time being says about when to come back. */
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

/** The body as JSON, whatever its shape. */
function jsonOf(about: About): unknown {
  const { answer } = about;
  const type = headerOf(answer, "content-type");
  const encoding = headerOf(answer, "content-encoding") ?? "identity";
  if (encoding !== "identity") throw badAnswer(about, `compressed (${encoding}), unasked`, "not_json");
  if (type !== undefined && !/^[\w.+-]+\/([\w.-]+\+)?json\s*(;|$)/i.test(type.trim())) {
    throw badAnswer(about, `with ${kindOf(type)}, not JSON`, "not_json");
  }
  if (answer.body.length === 0) throw badAnswer(about, "with nothing", "empty_answer");
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(answer.body));
  } catch {
    throw badAnswer(about, "with something that is not whole JSON", "not_json");
  }
}

const kindOf = (contentType: string): string => {
  const type = contentType.split(";", 1)[0]!.trim().toLowerCase();
  if (type === "text/html" || type === "application/xhtml+xml") return "HTML";
  return /^[\w.+-]+\/[\w.+-]+$/.test(type) ? type : "an unknown content type";
};

function badAnswer({ message, answer }: About, how: string, code: string): BadAnswerError {
  const requestId = headerOf(answer, "x-request-id");
  return new BadAnswerError(
    `${nameOf(message)} was answered ${how}: is ${message.origin} the service's base URL? (status ${answer.status})`,
    { code, status: answer.status, requestId, earlierUnanswered: answer.earlierUnanswered },
  );
}
