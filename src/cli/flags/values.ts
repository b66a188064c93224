import { InvalidArgumentError } from "commander";

/** The allowed range of a number on the command line, limits included. */
export interface NumberRange {
  min: number;
  max?: number;
}

/** The highest number without a maximum of its own: 15 digits. */
const longest = 999_999_999_999_999;

/** Parses a whole number within a range, in decimal digits, for a flag. */
export const wholeNumber =
  ({ min, max }: NumberRange) =>
  (text: string): number => {
    const value = /^[+-]?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= (max ?? Number.MAX_SAFE_INTEGER))) {
      const highest = max ?? (/^\+?\d{16,}$/.test(text) ? longest : undefined);
      throw new InvalidArgumentError(
        `use a whole number ${range({ min, ...(highest === undefined ? {} : { max: highest }) })}`,
      );
    }
    return value;
  };

/** Parses a decimal number above zero, for a flag. */
export function positiveNumber(text: string): number {
  const value = /^\d{1,15}(\.\d{1,9})?$/.test(text) ? Number(text) : Number.NaN;
  if (!(value > 0)) throw new InvalidArgumentError("use a number above 0");
  return value;
}

const range = ({ min, max }: NumberRange): string =>
  max === undefined ? `of at least ${min}` : `from ${min} to ${max}`;
