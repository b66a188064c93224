import { type ErrorCode, ErrorEnvelope, errorCodes } from "../error-codes.ts";
import { type Operation, refusalsOf } from "../operation.ts";
import { refOf, refTo } from "./components.ts";
import { type HeaderName, headersWith } from "./headers.ts";
import type { JsonObject } from "./schemas.ts";

/** Refusals that come before any operation is known, so that every operation may meet them. */
const beforeAnyOperation: readonly ErrorCode[] = [
  "route_not_found",
  "method_not_allowed",
  "request_timeout",
  "uri_too_long",
  "headers_too_large",
];

const anyOther = "AnyOtherRefusal";

/** Collects the refusals of operations as components, each once. */
export class Responses {
  readonly components: Record<string, JsonObject> = {
    [anyOther]: {
      description: `Any other refusal, such as ${beforeAnyOperation.map((code) => `${errorCodes[code].status} \`${code}\``).join(", ")}.`,
      headers: headersWith(["Allow"]),
      content: {
        "application/json": { schema: refTo(ErrorEnvelope), examples: examplesOf(beforeAnyOperation) },
      },
    },
  };

  /** Every answer of an operation, by status. */
  of(operation: Operation): JsonObject {
    const responses: JsonObject = { [operation.status]: successOf(operation) };
    for (const [status, codes] of refusalsOf(operation))
      responses[status] = this.#refusal(operation, status, codes);
    responses.default = { $ref: refOf("responses", anyOther) };
    return responses;
  }

  #refusal(operation: Operation, status: number, codes: readonly ErrorCode[]): JsonObject {
    const hasList = status === 400 && operation.refusalList !== undefined;
    const isReplayable = operation.method !== "GET" && isStored(status);
    const list = hasList ? refTo(operation.refusalList!) : null;
    const listName = list === null ? [] : [list.$ref.split("/").at(-1)!];
    const name = [...codes.map(pascal), ...listName].join("Or") + (isReplayable ? "ToWrite" : "");
    this.components[name] ??= {
      description:
        codes.map((code) => `\`${code}\``).join(" or ") + (hasList ? ", or every problem at once" : ""),
      headers: headersWith([
        ...(status === 401 ? (["WWW-Authenticate"] as const) : []),
        ...(status === 429 ? (["Retry-After"] as const) : []),
        ...(isReplayable ? (["Idempotent-Replayed"] as const) : []),
      ]),
      content: {
        "application/json": {
          schema: list === null ? refusalSchema(codes) : { anyOf: [refusalSchema(codes), list] },
          ...(list === null && { examples: examplesOf(codes) }),
        },
      },
    };
    return { $ref: refOf("responses", name) };
  }
}

/** A 4xx is stored and replayed, but for those about the caller or given before a key is looked at (Cross-cutting rule 5). */
const isStored = (status: number): boolean => status < 500 && ![401, 403, 413, 429].includes(status);

function successOf({ method, status, reply, polled }: Operation): JsonObject {
  const more: HeaderName[] = [];
  if (polled === true) more.push("Retry-After");
  if (method !== "GET") more.push("Idempotent-Replayed");
  return {
    description: successes[status] + (polled === true ? " Retry-After is there while the job runs." : ""),
    headers: headersWith(more),
    ...(reply !== null && { content: { "application/json": { schema: refTo(reply) } } }),
  };
}

const successes: Record<Operation["status"], string> = {
  200: "Done.",
  201: "Created.",
  202: "Accepted: the work goes on in the background.",
  204: "Done; the body is empty.",
};

/** The envelope with one of the codes that this refusal can have, and the types that go with them. */
const refusalSchema = (codes: readonly ErrorCode[]): JsonObject => ({
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

function examplesOf(codes: readonly ErrorCode[]): JsonObject {
  const exampleOf = (code: ErrorCode) => ({
    value: { error: { type: errorCodes[code].type, code, message: `${code.replaceAll("_", " ")}.` } },
  });
  return Object.fromEntries(codes.map((code) => [code, exampleOf(code)]));
}

const pascal = (code: string): string =>
  code.replaceAll(/(?:^|_)(\w)/g, (_match, letter: string) => letter.toUpperCase());
