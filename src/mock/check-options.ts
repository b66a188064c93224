import { lastMoment } from "../clock.ts";
import { didYouMean, questionFor } from "../contract/did-you-mean.ts";
import { optionRanges } from "../contract/option-ranges.ts";

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

/** Whether a clock tells a time that can be written; one that somebody else has made may do anything. */
function tellsTime(clock: unknown): boolean {
  try {
    return isWithin((clock as { now(): unknown }).now(), { min: 0, max: lastMoment });
  } catch {
    return false;
  }
}

/** Whether a clock's timers can be taken back, and so told of before; one that does nothing would be found out in the middle of a test. */
function keepsTime(clock: unknown, tellsNext: boolean): boolean {
  if (!tellsTime(clock)) return false;
  const { at, nextDue } = clock as Record<string, (...given: unknown[]) => unknown>;
  try {
    const cancel: unknown = at!.call(clock, lastMoment, () => {});
    if (typeof cancel !== "function") return false;
    const next: unknown = tellsNext ? nextDue!.call(clock) : lastMoment;
    cancel();
    return typeof next === "number";
  } catch {
    return false;
  }
}

/** The parts of the network that may be stood in for. */
const networkRules: Readonly<Record<string, Rule>> = {
  time: [(value) => has(value, ["now", "at", "sleep"]) && keepsTime(value, false), "a clock"],
  resolve: [(value) => typeof value === "function", "a function"],
  connect: [(value) => typeof value === "function", "a function"],
  authorities: [(value) => typeof value === "string", "certificates as a text (PEM)"],
};

/** Every option of `startMock`, but for the state, which has its own check. */
const rules: Readonly<Record<string, Rule>> = {
  port: wholeNumber(optionRanges.port),
  host: [(value) => typeof value === "string" && value.trim() !== "", "an address or a name"],
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
  clock: [
    (value) => has(value, ["now", "at", "sleep", "advance", "nextDue", "clear"]) && keepsTime(value, true),
    "a MovableClock",
  ],
  latencyMs: wholeNumber(optionRanges.latencyMs),
  strict: yesOrNo,
  fetchImages: yesOrNo,
  network: [isObject, "an object with functions"],
};

/** Checked elsewhere. */
const otherOptions = ["state"];

/**
 * Throws a TypeError with a sentence that names the first option at fault. What the compiler lets pass, or was never
 * asked, would otherwise be a mock that is subtly not the one that was meant. An option that is undefined is not given.
 */
export function checkOptions(options: unknown): void {
  if (!isObject(options)) throw new TypeError("startMock takes its options as an object");
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
    throw new TypeError(`startMock: there is no option ${within}${name.slice(0, 50)}${hint}`);
  }
  for (const [name, [holds, mustBe]] of Object.entries(rules)) {
    const value = options[name];
    if (value !== undefined && !holds(value)) {
      throw new TypeError(`startMock: ${within}${name} must be ${mustBe}, not ${shown(value)}`);
    }
  }
}

/** Short, and whatever it is: an object of somebody's may refuse to be printed. */
function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 50));
  if (typeof value === "object" && value !== null) return Array.isArray(value) ? "a list" : "this object";
  return typeof value === "function" ? "a function" : String(value);
}
