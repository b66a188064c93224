// How a workbook shows numbers: its formats, and the text of a number in one of them.

import { type Cell, decimalText, isDecimal, storedDigits } from "./cell.ts";
import { workbookLimits } from "./limits.ts";

/** How cells of one style show a number. */
export type NumberFormat =
  /** As it is. */
  | { readonly kind: "plain" }
  /** By codes for positive numbers, negative ones and zero; the first is for all that have no own. */
  | { readonly kind: "digits"; readonly sections: readonly (Digits | null)[] }
  /** `code` without colors and languages. */
  | { readonly kind: "date"; readonly code: string }
  /** With other characters, such as a currency or a percent sign. */
  | { readonly kind: "other" };

/** Digits that a code such as `00000` or `#,##0.00` shows. */
interface Digits {
  /** Before the point at least; zeros fill them. */
  readonly whole: number;
  /** After the point at most; others are rounded away. */
  readonly decimals: number;
  /** Whether the code is zeros alone, so that the text can be known. */
  readonly isZeros: boolean;
}

const plain: NumberFormat = { kind: "plain" };

const builtInCodes: Readonly<Record<number, string>> = {
  1: "0",
  2: "0.00",
  3: "#,##0",
  4: "#,##0.00",
  37: "#,##0;(#,##0)",
  38: "#,##0;(#,##0)",
  39: "#,##0.00;(#,##0.00)",
  40: "#,##0.00;(#,##0.00)",
};

/** The formats that files name by number alone; those of dates depend on the computer. */
export function builtInFormat(id: number): NumberFormat {
  const code = builtInCodes[id];
  if (code !== undefined) return parseFormat(code);
  if ((id >= 5 && id <= 13) || (id >= 41 && id <= 44) || id === 48) return { kind: "other" };
  if ((id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 45 && id <= 47) || (id >= 50 && id <= 58))
    return { kind: "date", code: "" };
  return plain;
}

/** The format of a code such as `0.00` or `"SKU-"00000`. */
export function parseFormat(code: string): NumberFormat {
  if (code.length > workbookLimits.formatCode) return { kind: "other" };
  const sections = splitSections(code);
  // Colors and languages; durations such as [h] stay, a currency is text, and a condition chooses the
  // section.
  const [bare = "", ...others] = sections.map((section) =>
    section.replace(/\[(?:\$-[^[\]]*|[^[\]$hms<>=][^[\]]*)\]/gi, ""),
  );
  const symbols = bare.replace(/"[^"]*"|\\./g, "");
  if (/^(?:general|@)$/i.test(bare.trim())) return others.length === 0 ? plain : { kind: "other" };
  if (/[dmyhs]/i.test(symbols.replace(/general/gi, ""))) return { kind: "date", code: bare };
  // The sign of a negative number is part of its code.
  const [negative, zero] = others.map((section, index) =>
    parseDigits(index === 0 ? section.replace(/^\\?-/, "") : section),
  );
  const hasSign = others[0] === undefined || /^\\?-/.test(others[0]);
  const positive = parseDigits(bare);
  return positive === null
    ? { kind: "other" }
    : {
        kind: "digits",
        sections: [
          positive,
          hasSign ? (others.length > 0 ? negative! : positive) : null,
          others.length > 1 ? zero! : positive,
        ],
      };
}

/** The digits of a code without other characters; null with some, or if it divides by thousands (`0,`). */
function parseDigits(code: string): Digits | null {
  // `_x` leaves a space as wide as x, `*x` fills the cell.
  const bare = code.replace(/[_*]./g, "");
  if (!/^[0#?.,\s]*$/.test(bare) || !/[0#?]/.test(bare) || /[0#?],+(?:[^0#?,]|$)/.test(bare)) return null;
  const [whole = "", ...decimals] = bare.split(".");
  const count = (text: string, digit: RegExp) => text.match(digit)?.length ?? 0;
  return {
    whole: count(whole, /0/g),
    decimals: count(decimals.join(""), /[0#?]/g),
    isZeros: /^0{2,}$/.test(bare),
  };
}

/** The sections of a code, for positive, negative and zero numbers, and text. */
function splitSections(code: string): string[] {
  const sections = [""];
  for (const [part] of code.matchAll(/"[^"]*"?|\\.|[^;"\\]+|;/g)) {
    if (part === ";") sections.push("");
    else sections[sections.length - 1] += part;
  }
  return sections;
}

/** The text of a cell with a number. `isFrom1904`: how the workbook counts days. */
export function numberCell(raw: string, format: NumberFormat, isFrom1904: boolean): Omit<Cell, "column"> {
  if (!isDecimal(raw)) return { text: raw, doubt: "error_cell" };
  if (format.kind === "date") return dateCell(Number(raw), format.code, isFrom1904);
  const text = decimalText(raw);
  if (text === null) return { text: storedDigits(raw), isNumber: true, doubt: "too_many_digits" };
  if (format.kind === "plain") return { text, isNumber: true };
  return (
    (format.kind === "digits" ? shownDigits(text, format.sections) : null) ?? {
      text,
      isNumber: true,
      doubt: "shown_differently",
    }
  );
}

/** A number in a format of digits; null if that shows another number, or unknown zeros. */
function shownDigits(text: string, sections: readonly (Digits | null)[]): Omit<Cell, "column"> | null {
  const digits = sections[text === "0" ? 2 : text.startsWith("-") ? 1 : 0];
  const [whole = "", decimals = ""] = text.replace("-", "").split(".");
  if (digits == null || decimals.length > digits.decimals) return null;
  if (digits.isZeros && text === whole) return { text: text.padStart(digits.whole, "0") };
  // A format without zeros shows nothing for 0.
  if (whole.length < digits.whole || (text === "0" && digits.whole === 0)) return null;
  return { text, isNumber: true };
}

const dayMs = 86_400_000;

/** A date as the sheet shows it, if its format has digits only; else in ISO 8601, unlike the sheet. */
function dateCell(serial: number, code: string, isFrom1904: boolean): Omit<Cell, "column"> {
  // Day 60 of the count from 1900 is the 29th of February, which that year did not have.
  const days = isFrom1904 ? serial + 1462 : serial < 60 ? serial + 1 : serial;
  const time = new Date(Math.round(((days - 25_569) * dayMs) / 1000) * 1000);
  if (Number.isNaN(time.getTime())) return { text: String(serial), doubt: "shown_differently" };
  const shown = shownDate(time, code);
  return shown === null
    ? { text: isoDate(time, serial), doubt: "shown_differently" }
    : { text: shown, doubt: "date" };
}

const isoDate = (time: Date, serial: number): string => {
  const [date = "", clock = ""] = time.toISOString().slice(0, 19).split("T");
  if (Number.isInteger(serial)) return date;
  return serial < 1 ? clock : `${date} ${clock}`;
};

/** The text of a date in a format of digits; null where names, or a clock, depend on the language. */
function shownDate(time: Date, code: string): string | null {
  const two = (value: number) => String(value).padStart(2, "0");
  const year = String(time.getUTCFullYear());
  const [day, month] = [time.getUTCDate(), time.getUTCMonth() + 1];
  const values: Record<string, string> = {
    yyyy: year,
    yy: year.slice(-2),
    dd: two(day),
    d: String(day),
    mm: two(month),
    m: String(month),
  };
  const tokens = code.match(/yyyy|yy|dd?|mm?|"[^"]*"|\\.|[-./\s]|./gi) ?? [];
  const texts = tokens.map((token) => {
    if (/^["\\]/.test(token)) return token.replace(/^["\\]|"$/g, "");
    return values[token.toLowerCase()] ?? (/^[-./\s]$/.test(token) ? token : null);
  });
  return texts.length === 0 || texts.includes(null) || /m{3}|d{3}/i.test(code) ? null : texts.join("");
}
