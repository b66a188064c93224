import * as z from "zod";
import { lastMoment } from "../clock.ts";
import { didYouMean, questionFor } from "../contract/did-you-mean.ts";
import { optionRanges } from "../contract/limits.ts";
import { exactHost, parseUrl } from "../contract/url-policy.ts";
import { isObject } from "../json.ts";

interface Range {
  readonly min: number;
  readonly max: number;
}

/** An option that the schema accepts; the message says what it must be. */
const must = (be: string, schema: z.ZodType) =>
  z.custom((value) => schema.safeParse(value).success, be).optional();

const within = ({ min, max }: Range) => z.int().min(min).max(max);
const wholeNumber = (range: Range) => must(`a whole number from ${range.min} to ${range.max}`, within(range));
const yesOrNo = must("true or false", z.boolean());
const aFunction = must("a function", z.function());

/** A value with these methods, whose time is valid. */
const clock = (be: string, methods: readonly string[]) =>
  z
    .custom<{ now(): unknown }>((value) => {
      if (typeof value !== "object" || value === null) return false;
      if (methods.some((name) => typeof (value as Record<string, unknown>)[name] !== "function"))
        return false;
      return z
        .number()
        .min(0)
        .max(lastMoment)
        .safeParse((value as { now(): unknown }).now()).success;
    }, be)
    .optional();

const { speed, requestsPerMinute: rates } = optionRanges;

const Network = z.strictObject(
  {
    time: clock("a clock", ["now", "at", "sleep"]),
    resolve: aFunction,
    connect: aFunction,
    authorities: must("certificates as a PEM string", z.string()),
  },
  "an object with functions",
);

/** The options of `startMock`; a state is checked by its own schema. */
const Options = z.strictObject({
  port: wholeNumber(optionRanges.port),
  host: must("an address or a host name", z.string().trim().min(1)),
  baseUrl: must(
    "an http:// or https:// URL without /v1, query and credentials",
    z.string().refine(isLinkBase),
  ),
  allowHosts: must(
    "a list of exact host names, without ports and wildcards",
    z.array(z.string().refine((name) => exactHost(name) !== null)),
  ),
  seed: wholeNumber(optionRanges.seed),
  demo: wholeNumber(optionRanges.demo),
  speed: must(
    `a number above 0, from ${speed.min} to ${speed.max}`,
    z.number().min(speed.min).max(speed.max),
  ),
  rateLimit: must(
    `false, or { reads, writes } with whole numbers from ${rates.min} to ${rates.max}`,
    z.union([z.literal(false), z.strictObject({ reads: within(rates), writes: within(rates) })]),
  ),
  clock: clock("a MovableClock", ["now", "at", "sleep", "advance", "nextDue", "clear"]),
  latencyMs: wholeNumber(optionRanges.latencyMs),
  strict: yesOrNo,
  strictSlugs: yesOrNo,
  fetchImages: yesOrNo,
  bodies: yesOrNo,
  tomorrow: yesOrNo,
  onRequest: aFunction,
  network: z.preprocess(withoutUndefined, Network.optional()),
  state: z.unknown().optional(),
});

/** Whether paths of the mock can be appended to a URL. */
function isLinkBase(text: string): boolean {
  const url = parseUrl(text);
  if (url === null || !/^https?:\/\//i.test(text) || /[?#\s\\]/.test(text)) return false;
  return url.username === "" && url.password === "" && !/\/v\d+\/*$/.test(url.pathname);
}

/** An option that is undefined counts as not set. */
function withoutUndefined(value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined));
}

/**
 * Throws a TypeError that names the first invalid option. Without this check, an untyped caller could start a
 * mock that differs from the one intended. Returns the options that are set.
 */
export function checkOptions<Given extends object>(options: Given): Given {
  const parsed = Options.safeParse(withoutUndefined(options));
  if (parsed.success) return parsed.data as Given;
  const issue = parsed.error.issues[0]!;
  const [name = "", part] = issue.path.map(String);
  const path = issue.path.join(".");
  if (issue.code === "unrecognized_keys") {
    const prefix = name === "" ? "" : `${name}.`;
    const known = Object.keys(name === "" ? Options.shape : Network.shape);
    const hint = questionFor(didYouMean(issue.keys[0]!, known), "; ", (meant) => prefix + meant);
    throw new TypeError(`startMock: unknown option ${prefix}${issue.keys[0]!.slice(0, 50)}${hint}`);
  }
  if (path === "") throw new TypeError("startMock: options must be an object");
  const option = (options as Record<string, unknown>)[name];
  const value = part === undefined ? option : (option as Record<string, unknown>)[part];
  throw new TypeError(`startMock: ${path} must be ${issue.message}, not ${shown(value)}`);
}

/** Describes a value briefly. Objects are not printed, because a custom one may throw. */
function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 50));
  if (typeof value === "object" && value !== null) return Array.isArray(value) ? "a list" : "this object";
  return typeof value === "function" ? "a function" : String(value);
}
