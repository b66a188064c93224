import * as z from "zod";
import type { ErrorCode } from "./error-codes.ts";
import type { Scope } from "./value-sets.ts";

export type BodyType =
  | "application/json"
  | "application/merge-patch+json"
  | "application/x-ndjson"
  | "multipart/form-data";

/** One operation as a value: client methods, routes and checks of the mock, and openapi.json follow. */
export interface Operation<
  Params extends z.ZodObject = z.ZodObject,
  Query extends z.ZodObject = z.ZodObject,
  Body extends BodySchemas | undefined = BodySchemas | undefined,
  Reply extends z.ZodType | null = z.ZodType | null,
> {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Starts with `/v1`; parameters in braces, e.g. `/v1/products/{product_id}`. */
  readonly path: string;
  readonly summary: string;
  readonly scope: Scope;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** The status and body of success; null for an empty body. */
  readonly status: 200 | 201 | 202 | 204;
  readonly reply: Reply;
  /** Error codes by status, in addition to those of every operation (`commonRejections`). */
  readonly rejects: Readonly<Partial<Record<number, readonly ErrorCode[]>>>;
  /** The schema of a 400 that lists every problem (Errors). */
  readonly rejectionList?: z.ZodType;
  /** Whether the response has `Retry-After` while the job runs. */
  readonly polled?: boolean;
}

export type BodySchemas = Readonly<Partial<Record<BodyType, z.ZodType>>>;

/** Whether a body may be missing: all its fields are optional. An empty PATCH is probably a mistake. */
export const mayHaveNoBody = ({ method, body }: Operation): boolean =>
  method === "POST" &&
  body !== undefined &&
  Object.values(body).every((schema) => schema.safeParse({}).success);

/** Error codes of every operation (Cross-cutting request rules, Status codes). */
const commonRejections = {
  400: ["invalid_request"],
  401: ["missing_api_key", "invalid_api_key"],
  403: ["insufficient_scope", "user_key_not_allowed"],
  429: ["rate_limit_exceeded"],
  500: ["internal_error"],
  501: ["not_implemented"],
} as const satisfies Partial<Record<number, readonly ErrorCode[]>>;

/** Additional error codes of every write: idempotency and the request body. */
const writeRejections = {
  409: ["request_in_progress"],
  413: ["body_too_large"],
  415: ["unsupported_media_type"],
  422: ["idempotency_key_reused"],
} as const satisfies Partial<Record<number, readonly ErrorCode[]>>;

/** Every error code of an operation, its own and the common ones, by status. */
export function listRejections(operation: Operation): Map<number, ErrorCode[]> {
  const tables = [commonRejections, operation.method === "GET" ? {} : writeRejections, operation.rejects];
  const all = new Map<number, ErrorCode[]>();
  for (const table of tables) {
    for (const [status, codes] of Object.entries(table) as [string, readonly ErrorCode[]][]) {
      all.set(Number(status), [...(all.get(Number(status)) ?? []), ...codes]);
    }
  }
  return all;
}

const nothing = z.object({});
type Nothing = typeof nothing;

type Definition<
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends BodySchemas | undefined,
  Reply extends z.ZodType | null,
> = Omit<
  Operation<Params, Query, Body, Reply>,
  "params" | "query" | "body" | "scope" | "status" | "rejects"
> &
  Partial<Pick<Operation<Params, Query, Body, Reply>, "params" | "query" | "body" | "status" | "rejects">>;

/**
 * Completes the definition of an operation: absent params, query or body mean none, and the status is 200.
 * The scope follows from path and method, and every list can reject a cursor.
 */
export function operation<
  const Reply extends z.ZodType | null,
  const Params extends z.ZodObject = Nothing,
  const Query extends z.ZodObject = Nothing,
  const Body extends BodySchemas | undefined = undefined,
>(definition: Definition<Params, Query, Body, Reply>): Operation<Params, Query, Body, Reply> {
  const { method, path, params = nothing, query = nothing, body, status = 200 } = definition;
  const resource = path.split("/")[2]!;
  return {
    ...definition,
    scope: `${resource}:${method === "GET" ? "read" : "write"}` as Scope,
    params: params as Params,
    query: query as Query,
    body: body as Body,
    status,
    rejects: { ...("cursor" in query.shape && { 400: ["invalid_cursor"] }), ...definition.rejects },
  };
}
