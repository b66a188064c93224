import * as z from "zod";
import type { FaultOrder } from "../faults/faults.ts";
import { longestUrl } from "../rules/malformed.ts";

const effects = ["status", "delay_ms", "drop", "truncate", "fail"] as const;
const methods = ["GET", "HEAD", "POST", "PATCH", "DELETE"] as const;
const jobs = ["import", "export", "task"] as const;

/** Longer than any client waits, and short enough for a timer. */
const longestDelayMs = 24 * 3_600_000;

const oneOf = (values: readonly string[]) => ({ error: `must be one of ${values.join(", ")}` });
const wholeNumber = z.int({
  error: ({ input }) => (input === undefined ? "is missing" : "must be a whole number"),
});
const text = (longest: number) =>
  z.string().min(1, "must not be empty").max(longest, `must have at most ${longest} characters`);

const Match = z.strictObject({
  method: z
    .string()
    .toUpperCase()
    .pipe(z.enum(methods, oneOf(methods)))
    .optional(),
  path: text(longestUrl)
    .startsWith("/", "must begin with /")
    .refine((path) => !/^\/_mock(?:\/|$)/.test(path), "faults do not apply to /_mock")
    .optional(),
  job: z.enum(jobs, oneOf(jobs)).optional(),
});

/** A fault to set (docs/mock-server.md, Faults): what it matches, and exactly one effect. */
export const Fault = z
  .strictObject({
    match: Match,
    times: wholeNumber.min(1, "must be at least 1").optional(),
    probability: z.number().min(0, "must be from 0 to 1").max(1, "must be from 0 to 1").optional(),
    status: wholeNumber.min(400, "must be from 400 to 599").max(599, "must be from 400 to 599").optional(),
    delay_ms: wholeNumber
      .min(0, "must be at least 0")
      .max(longestDelayMs, "must be at most a day")
      .optional(),
    drop: z.enum(["before", "after"], oneOf(["before", "after"])).optional(),
    truncate: wholeNumber.min(0, "must be at least 0").optional(),
    fail: z.strictObject({ code: text(200), message: text(2_000) }).optional(),
  })
  .superRefine(({ match, ...order }, context) => {
    const reject = (message: string, path: string[] = []) =>
      context.addIssue({ code: "custom", message, path });
    const given = effects.filter((effect) => order[effect] !== undefined);
    if (given.length !== 1) {
      reject(`a fault needs exactly one of ${effects.join(", ")}`);
    } else if (order.fail !== undefined && match.job === undefined) {
      reject("fail needs match.job, because only jobs fail with a code", ["fail"]);
    } else if (match.job !== undefined) {
      if (order.fail === undefined) {
        reject("a job can only fail: use fail with a code and a message", [given[0]!]);
      } else if (match.method !== undefined || match.path !== undefined) {
        reject("match.job cannot be combined with a method or a path", [
          "match",
          match.path === undefined ? "method" : "path",
        ]);
      }
    }
  }) satisfies z.ZodType<FaultOrder>;
