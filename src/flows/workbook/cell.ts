// A cell of a workbook as text, and what about it cannot be known.

import { shownSize, workbookLimits } from "./limits.ts";

/** Why the text of a cell is not what its writer meant, or may not be. */
export type CellDoubt =
  /** An error such as #REF!. */
  | "error_cell"
  | "no_value"
  /** A whole number of 16 digits or more: spreadsheets replace the last ones by zeros. */
  | "too_many_digits"
  /** A date: its text is the one in the sheet, but the writer may have typed another one, such as MAR-1. */
  | "date"
  /** A number or date whose text in the sheet is another one, or depends on the computer. */
  | "shown_differently"
  | "image_in_cell";

/** A cell that is not empty. */
export interface Cell {
  /** From 0. */
  readonly column: number;
  readonly text: string;
  /** Whether the cell is a number, so that zeros at the start may be lost. */
  readonly isNumber?: boolean;
  readonly doubt?: CellDoubt;
  /** The target of a link that the cell's formula or text has. */
  readonly link?: string;
}

/** The name of a column: A for 0, AA for 26. */
export function columnName(column: number): string {
  let name = "";
  for (let rest = column + 1; rest > 0; rest = Math.floor((rest - 1) / 26))
    name = String.fromCharCode(65 + ((rest - 1) % 26)) + name;
  return name;
}

/** A cell or a row with more text than is read. The reader of its part says where. */
export class TooMuchText extends Error {}

/** Adds a piece to the text of a cell. Throws TooMuchText. */
export function addText(text: string, piece: string): string {
  checkLength(text.length + piece.length);
  return text + piece;
}

/** Throws TooMuchText for more characters than a row has. */
export function checkLength(length: number): void {
  const most = workbookLimits.rowText;
  if (length > most) throw new TooMuchText(`has more than ${shownSize(most)} of text in one row`);
}

/** The column (from 0) and row (from 1) of a place such as `C14`; null for anything else. */
export function parsePlace(place: string): { column: number; row: number } | null {
  const match = /^\$?([A-Za-z]{1,3})\$?([1-9]\d{0,6})$/.exec(place);
  if (match === null) return null;
  const column =
    [...match[1]!.toUpperCase()].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
  const row = Number(match[2]);
  return column < workbookLimits.columns && row <= workbookLimits.rows ? { column, row } : null;
}

/** Whether a value is written as a number of XML Schema is. */
export const isDecimal = (raw: string): boolean =>
  /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(raw.trim());

/** The shortest decimal of 15 significant digits, no exponent; null for integers of 16 digits and more. */
export function decimalText(raw: string): string | null {
  const value = Number(Number(raw).toPrecision(15));
  if (!Number.isFinite(value) || Math.abs(value) >= 1e15) return null;
  const [mantissa = "", exponent] = String(value).split("e");
  if (exponent === undefined) return mantissa;
  // Only small numbers have one here, such as 1.5e-7.
  const digits = mantissa.replace(/^-|\./g, "");
  return `${value < 0 ? "-" : ""}0.${"0".repeat(-Number(exponent) - 1)}${digits}`;
}

/** A large number with all digits of the file, without an exponent; unchanged where it has no end. */
export function storedDigits(raw: string): string {
  const parts = /^([+-]?)(\d*)(?:\.(\d*))?[eE]\+?(-?\d+)$/.exec(raw.trim());
  if (parts === null || !Number.isFinite(Number(raw))) return raw;
  const [, sign = "", whole = "", decimals = "", exponent] = parts;
  const point = whole.length + Number(exponent);
  const digits = `${whole}${decimals}`.padEnd(point, "0");
  const rest = digits.slice(point);
  return `${sign.replace("+", "")}${digits.slice(0, point).replace(/^0+(?=\d)/, "")}${rest === "" ? "" : `.${rest}`}`;
}
