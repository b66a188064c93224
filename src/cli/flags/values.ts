import { InvalidArgumentError } from "commander";

/** The allowed range of a number on the command line, limits included. */
export interface NumberRange {
  min: number;
  max?: number;
}

/** Parses a whole number within a range, in decimal digits, for a flag. */
export const wholeNumber =
  ({ min, max }: NumberRange) =>
  (text: string): number => {
    const value = /^[+-]?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= (max ?? Number.MAX_SAFE_INTEGER))) {
      throw new InvalidArgumentError(
        `use a whole number ${range({ min, ...(max === undefined ? {} : { max }) })}`,
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
