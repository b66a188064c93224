import { creditHeaders, type ErrorCode, errorCodes } from "../error-codes.ts";
import { limits } from "../limits.ts";
import { listRejections, type Operation } from "../operation.ts";
import { ErrorEnvelope } from "../resources/errors.ts";
import type { JsonObject } from "./schemas.ts";
import { refTo, toRef } from "./schemas.ts";

/** Errors that occur before routing, so that any request can get them. */
const beforeAnyOperation: readonly ErrorCode[] = [
  "route_not_found",
  "method_not_allowed",
  "request_timeout",
  "uri_too_long",
  "headers_too_large",
];

const anyOther = "AnyOtherRefusal";

/** Collects the error responses of operations as components, each once. */
export class Responses {
  readonly components: Record<string, JsonObject> = {
    [anyOther]: {
      description: `Any other error, such as ${beforeAnyOperation.map((code) => `${errorCodes[code].status} \`${code}\``).join(", ")}.`,
      headers: headersWith(["Allow"]),
      content: {
        "application/json": { schema: refTo(ErrorEnvelope), examples: toExamples(beforeAnyOperation) },
      },
    },
  };

  of(operation: Operation): JsonObject {
    const responses: JsonObject = { [operation.status]: toSuccess(operation) };
    for (const [status, codes] of listRejections(operation))
      responses[status] = this.#rejection(operation, status, codes);
    responses.default = { $ref: toRef("responses", anyOther) };
    return responses;
  }

  #rejection(operation: Operation, status: number, codes: readonly ErrorCode[]): JsonObject {
    const hasList = status === 400 && operation.rejectionList !== undefined;
    const isReplayable = operation.method !== "GET" && isStored(status);
    const list = hasList ? refTo(operation.rejectionList!) : null;
    const listName = list === null ? [] : [list.$ref.split("/").at(-1)!];
    const name = [...codes.map(pascal), ...listName].join("Or") + (isReplayable ? "ToWrite" : "");
    this.components[name] ??= {
      description:
        codes.map((code) => `\`${code}\``).join(" or ") + (hasList ? ", or a list of every problem" : ""),
      headers: headersWith([
        ...(status === 401 ? (["WWW-Authenticate"] as const) : []),
        ...(status === 429 ? (["Retry-After"] as const) : []),
        ...(status === 402 ? Object.values(creditHeaders) : []),
        ...(isReplayable ? (["Idempotent-Replayed"] as const) : []),
      ]),
      content: {
        "application/json": {
          schema: list === null ? rejectionSchema(codes) : { anyOf: [rejectionSchema(codes), list] },
          ...(list === null && { examples: toExamples(codes) }),
        },
      },
    };
    return { $ref: toRef("responses", name) };
  }
}

/** A 4xx is stored, unless it is about the key or sent before its check (Cross-cutting rule 5). */
const isStored = (status: number): boolean => status < 500 && ![401, 403, 413, 429].includes(status);

function toSuccess({ method, status, reply, polled }: Operation): JsonObject {
  const more: HeaderName[] = [];
  if (polled === true) more.push("Retry-After");
  if (method !== "GET") more.push("Idempotent-Replayed");
  return {
    description: successes[status] + (polled === true ? " Retry-After is present while the job runs." : ""),
    headers: headersWith(more),
    ...(reply !== null && { content: { "application/json": { schema: refTo(reply) } } }),
  };
}

const successes: Record<Operation["status"], string> = {
  200: "Success.",
  201: "Created.",
  202: "Accepted; the job runs in the background.",
  204: "Success; the body is empty.",
};

/** The error envelope, limited to the codes of this response and their types. */
const rejectionSchema = (codes: readonly ErrorCode[]): JsonObject => ({
  allOf: [refTo(ErrorEnvelope)],
  type: "object",
  properties: {
    error: {
      type: "object",
      properties: {
        type: { type: "string", enum: [...new Set(codes.map((code) => errorCodes[code].type))] },
        code: { type: "string", enum: [...codes] },
      },
    },
  },
});

function toExamples(codes: readonly ErrorCode[]): JsonObject {
  const toExample = (code: ErrorCode) => ({
    value: { error: { type: errorCodes[code].type, code, message: `${code.replaceAll("_", " ")}.` } },
  });
  return Object.fromEntries(codes.map((code) => [code, toExample(code)]));
}

const pascal = (code: string): string =>
  code.replaceAll(/(?:^|_)(\w)/g, (_match, letter: string) => letter.toUpperCase());

const integer = (minimum: number) => ({ type: "integer", minimum });
const always = (description: string, schema: JsonObject) => ({ description, required: true, schema });

export const headers = {
  "X-Request-Id": always("The ID of the request: the one that you sent, if it was valid.", {
    type: "string",
    pattern: `^[A-Za-z0-9._:-]{1,${limits.requestIdLength}}$`,
  }),
  "X-RateLimit-Limit": always(
    "Requests per minute for the organization. Reads and writes have separate limits.",
    integer(1),
  ),
  "X-RateLimit-Remaining": always("Requests left in this window.", integer(0)),
  "X-RateLimit-Reset": always(
    "Start of the next window in Unix seconds. Windows start on the minute.",
    integer(0),
  ),
  "Retry-After": { description: "Seconds to wait before the next request.", schema: integer(0) },
  // Not in the specification (docs/choices.md).
  [creditHeaders.needed]: { description: "Credits that the request needs.", schema: integer(0) },
  [creditHeaders.left]: { description: "Credits that are left.", schema: integer(0) },
  "Idempotent-Replayed": {
    description: "This is the stored response to an earlier request with the same Idempotency-Key.",
    schema: { type: "string", enum: ["true"] },
  },
  "WWW-Authenticate": {
    description: "The authentication scheme.",
    schema: { type: "string", examples: ["Bearer"] },
  },
  Allow: {
    description: "With 405: the methods that the path supports.",
    schema: { type: "string", examples: ["GET, POST"] },
  },
} satisfies Record<string, JsonObject>;

type HeaderName = keyof typeof headers;

const onEveryResponse = [
  "X-Request-Id",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
] as const;

/** The headers of a response: those of every response (Cross-cutting rules 7 and 8), and `more`. */
const headersWith = (more: readonly HeaderName[] = []): JsonObject =>
  Object.fromEntries([...onEveryResponse, ...more].map((name) => [name, { $ref: toRef("headers", name) }]));
