import { InvalidArgumentError } from "commander";
import ms from "ms";
import { ulidPattern } from "../../contract/limits.ts";
import { CatError } from "../../errors.ts";
import { parseTime } from "../../text.ts";
import { UsageError } from "../context/errors.ts";

/** The highest number without a maximum of its own: 15 digits. */
const longest = 999_999_999_999_999;

/** Parses a whole number within a range, limits included, in decimal digits, for a flag. */
export const wholeNumber =
  ({ min, max }: { min: number; max?: number }) =>
  (text: string): number => {
    const value = /^[+-]?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= (max ?? longest)) return value;
    const highest = max ?? (/^\+?\d{16,}$/.test(text) ? longest : null);
    const range = highest === null ? `of at least ${min}` : `from ${min} to ${highest}`;
    throw new InvalidArgumentError(`use a whole number ${range}`);
  };

/** Parses a number of rows or photos, or a percentage of them, for a flag. */
export function rowLimit(text: string): { rows: number } | { percent: number } {
  const limit = maxRemovals(text);
  return "percent" in limit ? limit : { rows: limit.count };
}

/** Parses a number of products or photos, or a percentage of them, for a flag. */
export function maxRemovals(text: string): { count: number } | { percent: number } {
  const [, number = "", sign] = /^(\d{1,9}(?:\.\d{1,3})?)(%?)$/.exec(text.trim()) ?? [];
  const value = Number(number === "" ? Number.NaN : number);
  if (sign === "%" && value <= 100) return { percent: value };
  if (sign === "" && Number.isInteger(value)) return { count: value };
  throw new InvalidArgumentError("use a number such as 200, or a percentage such as 30%");
}

/** Parses a decimal number above zero, for a flag. */
export function positiveNumber(text: string): number {
  const value = /^\d{1,15}(\.\d{1,9})?$/.test(text) ? Number(text) : Number.NaN;
  if (!(value > 0)) throw new InvalidArgumentError("use a number above 0");
  return value;
}

/** Parses a duration such as `90s`, `30m` or `2h` into milliseconds, for a flag. */
export function duration(text: string): number {
  const value = /^\d{1,9}(\.\d{1,3})?\s*(ms|s|m|h|d)$/.test(text) ? ms(text as ms.StringValue) : Number.NaN;
  if (!(value > 0)) throw new InvalidArgumentError("use a duration such as 90s, 30m or 2h");
  return value;
}

const units: Readonly<Record<string, number>> = { "": 1, b: 1, kb: 1e3, mb: 1e6, gb: 1e9 };

/** Parses a size such as `50MB`, `2GB` or `50000000` into bytes, for a flag. */
export function byteSize(text: string): number {
  const [, number = "", unit = ""] = /^(\d{1,15}(?:\.\d{1,3})?)\s*([kmg]?b)?$/i.exec(text) ?? [];
  const value = number === "" ? Number.NaN : Math.round(Number(number) * units[unit.toLowerCase()]!);
  if (value >= 1 && value <= Number.MAX_SAFE_INTEGER) return value;
  throw new InvalidArgumentError("use a size such as 50MB, 2GB or 50000000");
}

/** An earlier time has no form of four digits for the year in UTC. */
export const earliest = Date.parse("0000-01-01T00:00:00Z");

/** Parses an RFC 3339 time with its offset into Unix milliseconds, for a flag. */
export function timestamp(text: string): number {
  const time = parseTime(text);
  if (Number.isNaN(time)) {
    throw new InvalidArgumentError("use a time with an offset, for example 2026-01-05T09:00:00Z");
  }
  return Math.max(time, earliest);
}

/** Parses the host to listen on. Rejects an empty name, with which a server would listen on all addresses. */
export function hostName(text: string): string {
  if (text.trim() === "") throw new InvalidArgumentError("use an address or a host name");
  return text;
}

export const several = (text: string, earlier: readonly string[] = []): string[] => [...earlier, text];

/** The value of a flag, unchanged. Throws UsageError for an empty one. */
export function named<T extends string | undefined>(flag: string, value: T, hint: string): T {
  if (value?.trim() === "") throw new UsageError(`${flag} is empty`, { param: flag, hint });
  return value;
}

/** Throws UsageError for an empty path. `what` completes `Choose a`: `file, for example --out a.zip`. */
export function rejectNoPath(flag: string, value: string | undefined, what: string): void {
  if (value === undefined || (value.trim() !== "" && value !== "-")) return;
  throw new UsageError(`invalid ${flag} ${JSON.stringify(value)}`, {
    param: flag,
    hint: `Choose a ${what}.`,
  });
}

/** The program to run, from the words after `--`; null without `--`. Throws UsageError for an empty one. */
export function readProgram(
  words: readonly string[] | null,
  example: string,
): readonly [string, ...string[]] | null {
  if (words === null) return null;
  const [program = "", ...args] = words;
  if (program !== "") return [program, ...args];
  throw new UsageError("no command after --", {
    code: "missing_command",
    hint: `Add one, for example: ${example}`,
  });
}

/** The form of most IDs (Resources), upper or lower case: the service decides about the case. */
export const idForm = new RegExp(ulidPattern, "i");

/** The ID of a resource, trimmed. No ID: exit 2 when empty, else 5. `noun`: e.g. `import`. */
export function resourceId(text: string, noun: string): string {
  const id = text.trim();
  const param = `${noun}_id`;
  if (id === "") throw new UsageError(`the ${noun} ID is empty`, { param, hint: "Use the complete ID." });
  if (idForm.test(id)) return id;
  const shown = id.length > 60 ? `${id.slice(0, 60)}…` : id;
  throw new CatError(`no ${noun} has the ID ${JSON.stringify(shown)}`, {
    type: "not_found",
    code: `${noun}_not_found`,
    param,
    hint: "Check the ID: it has 26 capital letters and digits.",
  });
}
