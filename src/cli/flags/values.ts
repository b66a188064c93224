import { InvalidArgumentError } from "commander";

/** What a number on the command line may be. */
export interface NumberRange {
  min: number;
  max?: number;
}

/** Parses a whole number in decimal digits within a range, for a flag. */
export const wholeNumber =
  ({ min, max }: NumberRange) =>
  (text: string): number => {
    const value = /^[+-]?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= (max ?? Number.MAX_SAFE_INTEGER))) {
      throw new InvalidArgumentError(
        `It must be a whole number ${range({ min, ...(max === undefined ? {} : { max }) })}.`,
      );
    }
    return value;
  };

/** Parses a decimal number above zero, for a flag. */
export function positiveNumber(text: string): number {
  const value = /^\d{1,15}(\.\d{1,9})?$/.test(text) ? Number(text) : Number.NaN;
  if (!(value > 0)) throw new InvalidArgumentError("It must be a number above 0.");
  return value;
}

const range = ({ min, max }: NumberRange): string =>
  max === undefined ? `of at least ${min}` : `from ${min} to ${max}`;
