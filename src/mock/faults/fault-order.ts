import * as z from "zod";
import { isObject } from "../../json.ts";
import { checkAll } from "../rules/checks.ts";
import { longestUrl } from "../rules/malformed.ts";
import type { Problem } from "../rules/rejection.ts";

const effects = ["status", "delay_ms", "drop", "truncate", "fail"] as const;

/** Longer than any client waits, and short enough for a timer. */
const longestDelayMs = 24 * 3_600_000;

const text = (longest: number) => z.string().min(1).max(longest);
const count = z.int().min(0);

/** The error of a job that fails because of a fault. */
const JobFailure = z.strictObject({ code: text(200), message: text(2_000) });
export type JobFailure = z.infer<typeof JobFailure>;

/** Headers that say where a response ends: a wrong one would make the next response unreadable. */
const framing: readonly string[] = [
  "content-length",
  "transfer-encoding",
  "trailer",
  "connection",
  "upgrade",
];

/** Response headers of a fault by name; null removes a header that the mock would send. */
export const FaultHeaders = z
  .record(
    z
      .string()
      .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/, "must be a header name")
      .refine(
        (name) => !framing.includes(name.toLowerCase()),
        "is set by the mock; truncate sends a part of a body",
      ),
    z
      .string()
      .max(8_192)
      .regex(/^[\t\x20-\x7e\x80-\xff]*$/, "must be Latin-1 text without line breaks")
      .nullable(),
  )
  .refine(
    (headers) =>
      new Set(Object.keys(headers).map((name) => name.toLowerCase())).size === Object.keys(headers).length,
    "must name each header once; upper and lower case are the same",
  );
export type FaultHeaders = z.infer<typeof FaultHeaders>;

/** A fault as a client sets it (docs/mock-server.md, Faults): what it matches, and its one effect. */
export const FaultOrder = z.strictObject({
  match: z.strictObject({
    method: z
      .string()
      .toUpperCase()
      .pipe(z.enum(["GET", "HEAD", "POST", "PATCH", "DELETE"]))
      .optional(),
    /** Prefix of the path, as sent. */
    path: text(longestUrl)
      .startsWith("/", "must begin with /")
      .refine((path) => !/^\/_mock(?:\/|$)/.test(path), "faults do not apply to /_mock")
      .optional(),
    job: z.enum(["import", "export", "task"]).optional(),
  }),
  /** Number of times it acts. Default: no limit. */
  times: z.int().min(1).optional(),
  /** Probability that it acts when it matches. Default: 1. */
  probability: z.number().min(0).max(1).optional(),
  /** Status of a response that replaces the work. */
  status: z.int().min(200).max(599).optional(),
  /** Headers of that response, added to or replacing those of every response. */
  headers: FaultHeaders.optional(),
  /** Its body: a string as it is, any other value as JSON. Default from 400 on: the error envelope. */
  body: z.unknown().optional(),
  delay_ms: count.max(longestDelayMs).optional(),
  /** `crash` does the work, and loses the response and the record of its idempotency key. */
  drop: z.enum(["before", "after", "crash"]).optional(),
  truncate: count.optional(),
  fail: JobFailure.optional(),
});
export type FaultOrder = z.input<typeof FaultOrder>;
export type JobKind = NonNullable<FaultOrder["match"]["job"]>;

/** The checked fault; 400 with every problem at once. */
export const readFault = (value: unknown): FaultOrder => checkAll(FaultOrder, value, "body", conflicts);

/** Problems between fields, also if a field is invalid by itself. */
function conflicts(order: unknown): Problem[] {
  if (!isObject(order)) return [];
  const { match, body, status } = order;
  const { job, method, path } = isObject(match) ? match : ({} as Readonly<Record<string, unknown>>);
  const problems = effectProblems(order, job !== undefined);
  if (job !== undefined && (method !== undefined || path !== undefined)) {
    const field = path === undefined ? "match.method" : "match.path";
    problems.push(problem("match.job cannot be combined with a method or a path", field));
  }
  for (const field of ["headers", "body"])
    if (order[field] !== undefined && status === undefined) problems.push(problem("needs a status", field));
  if (body !== undefined && typeof status === "number" && bodiless.includes(status))
    problems.push(problem(`a response with status ${status} has no body`, "body"));
  return problems;
}

/** A fault has one effect: `fail` for jobs, any other for requests. */
function effectProblems(order: Readonly<Record<string, unknown>>, isOfJob: boolean): Problem[] {
  const given = effects.filter((effect) => order[effect] !== undefined);
  if (given.length !== 1) return [{ message: `a fault needs exactly one of ${effects.join(", ")}` }];
  if ((given[0] === "fail") === isOfJob) return [];
  return isOfJob
    ? [problem("a job can only fail: use fail with a code and a message", given[0]!)]
    : [problem("fail needs match.job, because only jobs fail with a code", "fail")];
}

const problem = (message: string, param: string): Problem => ({ message: `${param}: ${message}`, param });

/** Statuses of responses without a body (RFC 9110). */
const bodiless: readonly number[] = [204, 205, 304];
