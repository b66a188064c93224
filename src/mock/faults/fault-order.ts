import * as z from "zod";
import { eventTypes } from "../../contract/value-sets.ts";
import { isObject } from "../../json.ts";
import { checkAll } from "../rules/checks.ts";
import { longestUrl } from "../rules/malformed.ts";
import { toParts } from "../rules/paths.ts";
import type { Problem } from "../rules/rejection.ts";

/** Longer than any client waits, and short enough for a timer. */
const longestDelayMs = 24 * 3_600_000;
/** All entries of a longer list or object would be checked before its length is reported. */
const mostEntries = 1_000;

const text = (longest: number) => z.string().min(1).max(longest);
const count = z.int().min(0);

/** The error of a job that fails because of a fault. */
const JobFailure = z.strictObject({
  code: text(200).describe("The code of the error, for example `internal_error`."),
  message: text(2_000).describe("The text of the error."),
});
export type JobFailure = z.infer<typeof JobFailure>;

/** Headers that say where a response ends: a wrong one would make the next response unreadable. */
const framing: readonly string[] = [
  "content-length",
  "transfer-encoding",
  "trailer",
  "connection",
  "upgrade",
];

const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/, "must be a header name");

const namedOnce = (headers: object): boolean =>
  new Set(Object.keys(headers).map((name) => name.toLowerCase())).size === Object.keys(headers).length;
const namedOnceRule = "must name each header once; upper and lower case are the same";

/** Response headers of a fault by name; null removes a header that the mock would send. */
export const FaultHeaders = z
  .record(
    headerName.refine(
      (name) => !framing.includes(name.toLowerCase()),
      "is set by the mock; truncate sends a part of a body",
    ),
    z
      .string()
      .max(8_192)
      .regex(/^[\t\x20-\x7e\x80-\xff]*$/, "must be Latin-1 text without line breaks")
      .nullable(),
  )
  .refine(namedOnce, namedOnceRule);
export type FaultHeaders = z.infer<typeof FaultHeaders>;

const path = text(longestUrl)
  .startsWith("/", "must begin with /")
  .refine((path) => !/^\/_mock(?:\/|$)/.test(path), "faults do not apply to /_mock");

/** The kinds of what a fault acts on, each with the fields of `match` that are for it alone. */
const kinds = {
  request: ["method", "path", "pattern", "query", "headers", "body"],
  job: ["job"],
  delivery: ["event", "webhook_id"],
} as const;
export type FaultKind = keyof typeof kinds;

const matchShape = {
  method: z
    .string()
    .toUpperCase()
    .pipe(z.enum(["GET", "HEAD", "POST", "PATCH", "DELETE"]))
    .optional()
    .describe("The method of the request."),
  path: path.optional().describe("The start of the path and query, as sent."),
  pattern: path
    .refine(
      (pattern) => !/[?#]/.test(pattern) && toParts(pattern) !== null,
      "must be a path without a query; use match.query",
    )
    .refine(
      (pattern) => pattern.split("/").every((part) => /^(?:[^{}]*|\{\w+\})$/.test(part)),
      "must have braces around whole parts only: /v1/products/{product_id}",
    )
    .optional()
    .describe("The complete path without the query; `{name}` stands for any one part between slashes."),
  query: z
    .record(
      text(200),
      z.union([z.string().max(longestUrl), z.number()], "must be text, a number or null").nullable(),
    )
    .optional()
    .describe("Values of query parameters, decoded. A repeated one needs the value once; null: not sent."),
  headers: z
    .record(headerName, z.string().max(8_192).nullable())
    .refine(namedOnce, namedOnceRule)
    .optional()
    .describe("Values of request headers; names in any case. null: not sent."),
  body: z
    .unknown()
    .optional()
    .describe(
      "A part of the JSON body: the fields of each object that must be there; lists have the same length.",
    ),
  job: z.enum(["import", "export", "task"]).optional().describe("The kind of job that fails."),
  event: z
    .enum([...eventTypes, "any"])
    .optional()
    .describe("The type of event in a webhook delivery. Each attempt matches by itself."),
  webhook_id: text(200).optional().describe("With `event`: the ID of the webhook."),
};

const effectShape = {
  status: z
    .int()
    .min(200)
    .max(599)
    .optional()
    .describe("Respond with this status, 200 to 599, instead of doing the work."),
  headers: FaultHeaders.optional().describe("With `status`: response headers by name; null removes one."),
  body: z
    .unknown()
    .optional()
    .describe("With `status`: a string is sent as is, anything else as JSON. Default: see below."),
  delay_ms: count
    .max(longestDelayMs)
    .optional()
    .describe(
      "Delay the work by milliseconds; the idempotency key counts as in use. A delivery is sent later.",
    ),
  drop: z
    .enum(["before", "after", "crash"])
    .optional()
    .describe(
      "Close the connection `before` or `after` the work, or like a `crash`. A delivery is not sent, or its response is lost.",
    ),
  truncate: count.optional().describe("Send only this many bytes of the body, then close the connection."),
  duplicate: z
    .int()
    .min(1)
    .max(10)
    .optional()
    .describe("Send this many more copies of the delivery at once."),
  reorder: z
    .int()
    .min(1)
    .max(100)
    .optional()
    .describe("Send the delivery after this many later ones of its webhook, or after a minute."),
  signature: z
    .enum(["wrong", "missing", "old"])
    .optional()
    .describe("Sign the delivery with another secret, not at all, or an hour ago."),
  fail: JobFailure.optional().describe("Fail the job with this `code` and `message`."),
};
const Effect = z.strictObject(effectShape);
/** One effect of a fault; none if it is empty. */
export type FaultEffect = z.infer<typeof Effect>;

/** The effects of each kind. */
const effects = {
  request: ["status", "delay_ms", "drop", "truncate"],
  job: ["fail"],
  delivery: ["delay_ms", "drop", "truncate", "duplicate", "reorder", "signature"],
} as const;
const allEffects = [...new Set(Object.values(effects).flat())];

/** A fault as a client sets it (docs/mock-server.md, Faults): what it matches, and its effect. */
export const FaultOrder = z.strictObject({
  match: z
    .strictObject(matchShape)
    .describe("What the fault acts on: requests, a `job`, or deliveries of an `event`. All fields must fit."),
  skip: count.optional().describe("Spare this many matches first. Default: 0."),
  times: z.int().min(1).optional().describe("How often it acts. Default: no limit."),
  probability: z.number().min(0).max(1).optional().describe("How likely it acts on a match. Default: 1."),
  ...effectShape,
  sequence: z
    .array(Effect)
    .min(1)
    .max(mostEntries)
    .optional()
    .describe(
      "Instead of one effect: each match takes the next entry, `{}` for none. Used up after the last.",
    ),
});
export type FaultOrder = z.input<typeof FaultOrder>;
export type JobKind = NonNullable<FaultOrder["match"]["job"]>;

/** The checked fault; 400 with every problem at once. */
export function readFault(value: unknown): FaultOrder {
  const long = isObject(value) ? tooLong(value) : [];
  // The entries are not even checked: each could have a problem.
  if (long.length > 0) checkAll(z.unknown(), value, "body", () => long);
  return checkAll(FaultOrder, value, "body", conflicts);
}

/** What a fault acts on. */
export function kindOf(match: unknown): FaultKind {
  if (!isObject(match)) return "request";
  if (match.job !== undefined) return "job";
  return match.event === undefined ? "request" : "delivery";
}

/** Problems between fields, also if a field is invalid by itself. */
function conflicts(order: unknown): Problem[] {
  if (!isObject(order)) return [];
  const { sequence, times } = order;
  const kind = kindOf(order.match);
  const problems = isObject(order.match) ? matchProblems(order.match, kind) : [];
  if (sequence === undefined) return [...problems, ...effectProblems(order, kind, "", 1)];
  for (const name of allEffects)
    if (order[name] !== undefined) problems.push(problem("cannot be combined with sequence", name));
  if (times !== undefined)
    problems.push(problem("cannot be combined with sequence, which ends after its last entry", "times"));
  const entries = Array.isArray(sequence) ? sequence.filter(isObject) : [];
  return [...problems, ...entries.flatMap((entry, at) => effectProblems(entry, kind, `sequence[${at}].`, 0))];
}

/** A fault acts on one kind only. */
function matchProblems(match: Readonly<Record<string, unknown>>, kind: FaultKind): Problem[] {
  if (kind === "request" && match.webhook_id !== undefined)
    return [problem("needs match.event", "match.webhook_id")];
  const own: readonly string[] = kinds[kind];
  const others = Object.values(kinds).flat();
  return others
    .filter((name) => match[name] !== undefined && !own.includes(name))
    .map((name) => problem(`cannot be combined with match.${own[0]}`, `match.${name}`));
}

/** An effect is one field that fits the kind; `at` is its place, `least` how many it needs. */
function effectProblems(
  effect: Readonly<Record<string, unknown>>,
  kind: FaultKind,
  at: string,
  least: 0 | 1,
): Problem[] {
  const { body, status, drop } = effect;
  const given = allEffects.filter((name) => effect[name] !== undefined);
  const problems: Problem[] = [];
  if (given.length < least || given.length > 1) {
    const message = `needs ${least === 1 ? "exactly" : "at most"} one of ${effects[kind].join(", ")}`;
    problems.push(at === "" ? { message: `a fault ${message}` } : problem(message, at.slice(0, -1)));
  }
  const fitting: readonly string[] = effects[kind];
  for (const name of given.length === 1 ? given : [])
    if (!fitting.includes(name)) problems.push(problem(misfit(kind, name), at + name));
  if (kind === "delivery" && drop === "crash")
    problems.push(problem("must be before or after for a delivery", `${at}drop`));
  for (const field of ["headers", "body"])
    if (effect[field] !== undefined && status === undefined)
      problems.push(problem("needs a status", at + field));
  if (body !== undefined && typeof status === "number" && bodiless.includes(status))
    problems.push(problem(`a response with status ${status} has no body`, `${at}body`));
  return problems;
}

/** Why an effect does not fit what the fault acts on. */
function misfit(kind: FaultKind, name: (typeof allEffects)[number]): string {
  if (kind === "job") return "a job can only fail: use fail with a code and a message";
  if (name === "fail") return "needs match.job, because only jobs fail with a code";
  return kind === "request" ? "needs match.event, because it is for deliveries" : "is not for deliveries";
}

const problem = (message: string, param: string): Problem => ({ message: `${param}: ${message}`, param });

/** Lists and objects with too many entries. */
function tooLong({ match, headers, sequence }: Readonly<Record<string, unknown>>): Problem[] {
  const { query, headers: matched } = isObject(match) ? match : ({} as Readonly<Record<string, unknown>>);
  const lists = { "match.query": query, "match.headers": matched, headers, sequence };
  return Object.entries(lists)
    .filter(([, list]) => typeof list === "object" && list !== null && Object.keys(list).length > mostEntries)
    .map(([name]) => problem(`must have at most ${mostEntries} entries`, name));
}

/** Statuses of responses without a body (RFC 9110). */
const bodiless: readonly number[] = [204, 205, 304];
