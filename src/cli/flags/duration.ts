import { InvalidArgumentError } from "commander";
import ms from "ms";

/** Parses a duration such as `90s`, `30m` or `2h` into milliseconds, for a flag. */
export function duration(text: string): number {
  const value = /^\d{1,9}(\.\d{1,3})?\s*(ms|s|m|h|d)$/.test(text) ? ms(text as ms.StringValue) : Number.NaN;
  if (!(value > 0)) throw new InvalidArgumentError("use a duration such as 90s, 30m or 2h");
  return value;
}
