import * as z from "zod";
import { eventTypes } from "../../contract/value-sets.ts";
import { longestUrl } from "../rules/malformed.ts";
import { toParts } from "../rules/paths.ts";

/** Longer than any client waits, and short enough for a timer. */
const longestDelayMs = 24 * 3_600_000;
/** The most entries of a list or object of a fault. */
export const mostEntries = 1_000;

const text = (longest: number) => z.string().min(1).max(longest);
const count = z.int().min(0);

/** The error of a job that fails because of a fault. */
const JobFailure = z.strictObject({
  code: text(200).meta({ title: "Code", description: "The code of the error: `internal_error`." }),
  message: text(2_000).meta({ title: "Message", description: "The text of the error." }),
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

export type FaultKind = "request" | "job" | "delivery";

/** A field as the page and the documentation show it. */
export interface Shown {
  /** Its label. */
  readonly title: string;
  readonly description: string;
  readonly "x-acts-on": readonly FaultKind[];
  /** The field that it belongs to. */
  readonly "x-with"?: string;
  readonly examples?: readonly string[];
}
const shown = (
  title: string,
  description: string,
  actsOn: readonly FaultKind[],
  more: Pick<Shown, "x-with" | "examples"> = {},
) => ({ title, description, "x-acts-on": actsOn, ...more }) as Shown & z.GlobalMeta;
const requests: readonly FaultKind[] = ["request"];
const deliveries: readonly FaultKind[] = ["delivery"];
const both: readonly FaultKind[] = ["request", "delivery"];

const methods = ["GET", "HEAD", "POST", "PATCH", "DELETE"] as const;

export const matchShape = {
  method: z
    .string()
    .toUpperCase()
    .pipe(z.enum(methods))
    .optional()
    .meta(shown("Method", "The method of the request.", requests, { examples: methods })),
  path: path
    .optional()
    .meta(shown("Path begins with", "The start of the path and query, as sent.", requests)),
  pattern: path
    .refine(
      (pattern) => !/[?#]/.test(pattern) && toParts(pattern) !== null,
      "must be a path without a query; use match.query",
    )
    .refine(
      (pattern) => pattern.split("/").every((part) => /^(?:[^{}]*|\{\w+\})$/.test(part)),
      "must have braces around a complete part: /v1/products/{product_id}",
    )
    .optional()
    .meta(
      shown(
        "Pattern of the path",
        "The complete path without the query; `{name}` is any one part between slashes.",
        requests,
      ),
    ),
  query: z
    .record(
      text(200),
      z.union([z.string().max(longestUrl), z.number()], "must be text, a number or null").nullable(),
    )
    .optional()
    .meta(
      shown(
        "Query",
        "Values of query parameters, decoded. A repeated one needs the value once; null: not sent.",
        requests,
      ),
    ),
  headers: z
    .record(headerName, z.string().max(8_192).nullable())
    .refine(namedOnce, namedOnceRule)
    .optional()
    .meta(
      shown("Request headers", "Values of request headers; names in any case. null: not sent.", requests),
    ),
  body: z
    .unknown()
    .optional()
    .meta(
      shown(
        "Request body",
        "A part of the JSON body: the fields of each object that must be there; lists have the same length.",
        requests,
      ),
    ),
  job: z
    .enum(["import", "export", "task"])
    .optional()
    .meta(shown("Job", "The kind of job that fails.", ["job"])),
  event: z
    .enum([...eventTypes, "any"])
    .optional()
    .meta(
      shown("Event", "The type of event in a webhook delivery. Each attempt matches by itself.", deliveries),
    ),
  webhook_id: text(200)
    .optional()
    .meta(shown("Webhook ID", "With `event`: the ID of the webhook.", deliveries)),
};

export const effectShape = {
  status: z
    .int()
    .min(200)
    .max(599)
    .optional()
    .meta(shown("Status", "Respond with this status, 200 to 599, instead of doing the work.", requests)),
  headers: FaultHeaders.optional().meta(
    shown("Headers", "With `status`: response headers by name; null removes one.", requests, {
      "x-with": "status",
    }),
  ),
  body: z
    .unknown()
    .optional()
    .meta(
      shown(
        "Body",
        "With `status`: a string is sent as is, anything else as JSON. Default from 400 on: the envelope.",
        requests,
        { "x-with": "status" },
      ),
    ),
  delay_ms: count
    .max(longestDelayMs)
    .optional()
    .meta(
      shown(
        "Delay in milliseconds",
        "Delay the work by milliseconds; the idempotency key counts as in use. A delivery is sent later.",
        both,
      ),
    ),
  drop: z
    .enum(["before", "after", "crash"])
    .optional()
    .meta(
      shown(
        "Close the connection",
        "Close the connection `before` or `after` the work, or like a `crash`. A delivery is not sent, or its response is lost.",
        both,
      ),
    ),
  truncate: count
    .optional()
    .meta(
      shown("Cut after bytes", "Send only this many bytes of the body, then close the connection.", both),
    ),
  duplicate: z
    .int()
    .min(1)
    .max(10)
    .optional()
    .meta(shown("Copies", "Send this many more copies of the delivery at once.", deliveries)),
  reorder: z
    .int()
    .min(1)
    .max(100)
    .optional()
    .meta(
      shown(
        "Deliveries to wait for",
        "Send the delivery after this many later ones of its webhook, or after a minute.",
        deliveries,
      ),
    ),
  signature: z
    .enum(["wrong", "missing", "old"])
    .optional()
    .meta(
      shown("Signature", "Sign the delivery with another secret, not at all, or an hour ago.", deliveries),
    ),
  fail: JobFailure.optional().meta(shown("Fail", "Fail the job with this `code` and `message`.", ["job"])),
};
const Effect = z.strictObject(effectShape);
/** One effect of a fault; none if it is empty. */
export type FaultEffect = z.infer<typeof Effect>;

/** A fault as a client sets it (docs/mock-server.md, Faults): what it matches, and its effect. */
export const FaultOrder = z.strictObject({
  match: z
    .strictObject(matchShape)
    .describe("What the fault acts on: requests, a `job`, or deliveries of an `event`. All fields must fit."),
  skip: count.optional().meta({ title: "Skip", description: "Spare this many matches first. Default: 0." }),
  times: z
    .int()
    .min(1)
    .optional()
    .meta({ title: "Times", description: "How often it acts. Default: no limit." }),
  probability: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .meta({ title: "Probability", description: "How likely it acts on a match. Default: 1." }),
  ...effectShape,
  sequence: z.array(Effect).min(1).max(mostEntries).optional().meta({
    title: "Sequence",
    description:
      "Instead of one effect: each match takes the next entry, `{}` for none. Used up after the last.",
  }),
});
export type FaultOrder = z.input<typeof FaultOrder>;
export type JobKind = NonNullable<FaultOrder["match"]["job"]>;
