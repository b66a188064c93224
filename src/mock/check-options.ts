import { type Clock, lastMoment } from "../clock.ts";
import { didYouMean, questionFor } from "../contract/did-you-mean.ts";
import { optionRanges } from "../contract/limits.ts";

interface Range {
  readonly min: number;
  readonly max: number;
}

type Rule = readonly [holds: (value: unknown) => boolean, mustBe: string];

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isWithin = (value: unknown, { min, max }: Range): boolean =>
  typeof value === "number" && value >= min && value <= max;

const isWholeWithin = (value: unknown, range: Range): boolean =>
  Number.isInteger(value) && isWithin(value, range);

const wholeNumber = (range: Range): Rule => [
  (value) => isWholeWithin(value, range),
  `a whole number from ${range.min} to ${range.max}`,
];

const yesOrNo: Rule = [(value) => typeof value === "boolean", "true or false"];

const { requestsPerMinute: rates } = optionRanges;

const has = (value: unknown, methods: readonly string[]): boolean =>
  isObject(value) && methods.every((name) => typeof value[name] === "function");

/** Whether a value has the methods of a clock, and returns a valid time. */
const isClock = (value: unknown, methods: readonly string[]): boolean =>
  has(value, methods) && isWithin((value as Clock).now(), { min: 0, max: lastMoment });

/** The parts of the network that a test may replace. */
const networkRules: Readonly<Record<string, Rule>> = {
  time: [(value) => isClock(value, ["now", "at", "sleep"]), "a clock"],
  resolve: [(value) => typeof value === "function", "a function"],
  connect: [(value) => typeof value === "function", "a function"],
  authorities: [(value) => typeof value === "string", "certificates as a PEM string"],
};

/** Every option of `startMock` except `state`, which has its own check. */
const rules: Readonly<Record<string, Rule>> = {
  port: wholeNumber(optionRanges.port),
  host: [(value) => typeof value === "string" && value.trim() !== "", "an address or a host name"],
  seed: wholeNumber(optionRanges.seed),
  demo: wholeNumber(optionRanges.demo),
  speed: [
    (value) => isWithin(value, optionRanges.speed),
    `a number above 0, from ${optionRanges.speed.min} to ${optionRanges.speed.max}`,
  ],
  rateLimit: [
    (value) =>
      value === false ||
      (isObject(value) &&
        isWholeWithin(value.reads, rates) &&
        isWholeWithin(value.writes, rates) &&
        Object.keys(value).length === 2),
    `false, or { reads, writes } with whole numbers from ${rates.min} to ${rates.max}`,
  ],
  clock: [(value) => isClock(value, ["now", "at", "sleep", "advance", "nextDue", "clear"]), "a MovableClock"],
  latencyMs: wholeNumber(optionRanges.latencyMs),
  strict: yesOrNo,
  strictSlugs: yesOrNo,
  fetchImages: yesOrNo,
  network: [isObject, "an object with functions"],
};

/** Options that are checked elsewhere. */
const otherOptions = ["state"];

/**
 * Throws a TypeError that names the first invalid option. Without this check, an untyped caller could start a
 * mock that differs from the one intended. An option that is undefined counts as not set.
 */
export function checkOptions(options: unknown): void {
  if (!isObject(options)) throw new TypeError("startMock: options must be an object");
  checkEach(options, rules, otherOptions, "");
  if (options.network !== undefined) {
    checkEach(options.network as Record<string, unknown>, networkRules, [], "network.");
  }
}

function checkEach(
  options: Record<string, unknown>,
  rules: Readonly<Record<string, Rule>>,
  others: readonly string[],
  within: string,
): void {
  const known = [...Object.keys(rules), ...others];
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || known.includes(name)) continue;
    const hint = questionFor(didYouMean(name, known), "; ", (meant) => `${within}${meant}`);
    throw new TypeError(`startMock: unknown option ${within}${name.slice(0, 50)}${hint}`);
  }
  for (const [name, [holds, mustBe]] of Object.entries(rules)) {
    const value = options[name];
    if (value !== undefined && !holds(value)) {
      throw new TypeError(`startMock: ${within}${name} must be ${mustBe}, not ${shown(value)}`);
    }
  }
}

/** Describes a value briefly. Objects are not printed, because a custom one may throw. */
function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 50));
  if (typeof value === "object" && value !== null) return Array.isArray(value) ? "a list" : "this object";
  return typeof value === "function" ? "a function" : String(value);
}
