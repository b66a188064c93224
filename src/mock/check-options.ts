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
      (isObject(value) && isWholeWithin(value.reads, rates) && isWholeWithin(value.writes, rates)),
    `false, or { reads, writes } with whole numbers from ${rates.min} to ${rates.max}`,
  ],
  clock: [
    (value) => isObject(value) && ["now", "at", "advance"].every((name) => typeof value[name] === "function"),
    "a MovableClock",
  ],
  latencyMs: wholeNumber(optionRanges.latencyMs),
  strict: yesOrNo,
  fetchImages: yesOrNo,
  network: [isObject, "an object with functions"],
};

/**
 * Throws a TypeError with a sentence that names the first option at fault. What the compiler lets pass, or was never
 * asked, would otherwise be a mock that is subtly not the one that was meant. An option that is undefined is not given.
 */
export function checkOptions(options: unknown): void {
  if (!isObject(options)) throw new TypeError("startMock takes its options as an object");
  for (const [name, [holds, mustBe]] of Object.entries(rules)) {
    const value = options[name];
    if (value !== undefined && !holds(value)) {
      throw new TypeError(`startMock: ${name} must be ${mustBe}, not ${shown(value)}`);
    }
  }
}

/** Short, and whatever it is: an object of somebody's may refuse to be printed. */
function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 50));
  if (typeof value === "object" && value !== null) return Array.isArray(value) ? "a list" : "this object";
  return typeof value === "function" ? "a function" : String(value);
}
