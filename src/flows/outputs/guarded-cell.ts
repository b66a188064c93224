/** Spaces of any kind: spreadsheets skip them before a formula. */
const spaces = "[\\s\\u180e\\u200b-\\u200d\\u2060\\ufeff]*";
const formulaStart = new RegExp(`^(?:[\\t\\r\\n]|${spaces}([^\\s]))`, "u");
/** A number is shown, not calculated. */
const plainNumber = /^[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;

/** Whether a spreadsheet may run the text of a cell as a formula (OWASP, CSV Injection). */
export function isFormula(text: string): boolean {
  const [start, character] = formulaStart.exec(text) ?? [];
  if (start === undefined || plainNumber.test(text)) return false;
  // NFKC turns full-width forms into the characters that they stand for.
  return character === undefined || "=+-@".includes(character.normalize("NFKC"));
}

/** The text of a cell for a file that people open: an apostrophe makes a formula a text. */
export const guardedCell = (text: string): string => (isFormula(text) ? `'${text}` : text);
