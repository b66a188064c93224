import * as z from "zod";
import { longestUrl } from "../rules/malformed.ts";

const effects = ["status", "delay_ms", "drop", "truncate", "fail"] as const;

/** Longer than any client waits, and short enough for a timer. */
const longestDelayMs = 24 * 3_600_000;

const text = (longest: number) => z.string().min(1).max(longest);
const count = z.int().min(0);

/** The error of a job that fails because of a fault. */
const JobFailure = z.strictObject({ code: text(200), message: text(2_000) });
export type JobFailure = z.infer<typeof JobFailure>;

/** A fault as a client sets it (docs/mock-server.md, Faults): what it matches, and its one effect. */
export const FaultOrder = z
  .strictObject({
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
    status: z.int().min(400).max(599).optional(),
    delay_ms: count.max(longestDelayMs).optional(),
    drop: z.enum(["before", "after"]).optional(),
    truncate: count.optional(),
    fail: JobFailure.optional(),
  })
  .superRefine(({ match, ...order }, context) => {
    const reject = (message: string, path: string[] = []) =>
      context.addIssue({ code: "custom", message, path });
    const given = effects.filter((effect) => order[effect] !== undefined);
    if (given.length !== 1) {
      reject(`a fault needs exactly one of ${effects.join(", ")}`);
    } else if (match.job === undefined) {
      if (order.fail !== undefined)
        reject("fail needs match.job, because only jobs fail with a code", ["fail"]);
    } else if (order.fail === undefined) {
      reject("a job can only fail: use fail with a code and a message", [given[0]!]);
    } else if (match.method !== undefined || match.path !== undefined) {
      const field = match.path === undefined ? "method" : "path";
      reject("match.job cannot be combined with a method or a path", ["match", field]);
    }
  });
export type FaultOrder = z.input<typeof FaultOrder>;
export type JobKind = NonNullable<FaultOrder["match"]["job"]>;
