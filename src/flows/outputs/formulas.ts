// Cells that a spreadsheet may run as formulas, apart from cells.ts, which loads csv-stringify.

import { formulaText } from "../rows/formula-text.ts";

/** Spaces of any kind: spreadsheets skip them before a formula. */
const spaces = "[\\s\\u180e\\u200b-\\u200d\\u2060\\ufeff]*";
const formulaStart = new RegExp(`^(?:[\\t\\r\\n]|${spaces}([^\\s]))`, "u");
/** A number is shown, not calculated. */
const plainNumber = /^[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;

/** Whether a spreadsheet may run the text of a cell as a formula (OWASP, CSV Injection). */
function isFormula(text: string): boolean {
  const [start, character] = formulaStart.exec(text) ?? [];
  if (start === undefined || plainNumber.test(text)) return false;
  // NFKC turns full-width forms into the characters that they stand for.
  return character === undefined || "=+-@".includes(character.normalize("NFKC"));
}

/** Whether a text is a formula, or a formula after apostrophes. */
const isGuardable = (text: string): boolean => isFormula(text.replace(/^'+/, ""));

/** The same for a part of a cell: a program that begins another cell there takes the quotes away. */
const isGuardablePart = (text: string): boolean =>
  isGuardable(text) || isGuardable(text.replace(/^['"\s]*"/, ""));

/** Where a program that expects another delimiter, or no quotes, begins another cell. */
const isDelimited = /[;\t\r\n]/;
const delimited = /(?<=[;\t\r\n])[^;\t\r\n]+/g;

/**
 * The text of a cell for a file that people open: an apostrophe makes a formula a text, at the start and
 * where a program may begin another cell. A formula with apostrophes gets one more, so that `unguardedCell`
 * gives every text back.
 */
export function guardedCell(text: string): string {
  const start = isGuardable(text) ? "'" : "";
  if (!isDelimited.test(text)) return start + text;
  return start + text.replace(delimited, (part) => (isGuardablePart(part) ? `'${part}` : part));
}

/** The text that was guarded, or that is a formula, for an import. */
export function unguardedCell(cell: string): string {
  const text = formulaText(cell);
  if (text !== null) return text;
  if (!cell.includes("'")) return cell;
  const unguarded = cell.replace(delimited, (part) => withoutApostrophe(part, isGuardablePart(part)));
  return withoutApostrophe(unguarded, isGuardable(unguarded));
}

const withoutApostrophe = (text: string, isGuarded: boolean): string =>
  isGuarded && text.startsWith("'") ? text.slice(1) : text;
