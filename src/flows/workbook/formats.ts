// How a workbook shows numbers: its formats, and the text of a number in one of them.

import { type Cell, decimalText } from "./cell.ts";

/** How cells of one style show a number. */
export type NumberFormat =
  /** As a number. */
  | { readonly kind: "plain" }
  /** With zeros at the start, up to so many digits: `00000`. */
  | { readonly kind: "padded"; readonly digits: number }
  /** `code` without colors and languages. */
  | { readonly kind: "date"; readonly code: string }
  /** With other characters, such as a currency or a percent sign. */
  | { readonly kind: "other" };

const plain: NumberFormat = { kind: "plain" };

/** The formats that files name by number alone; those of dates depend on the computer. */
export function builtInFormat(id: number): NumberFormat {
  if (id === 9 || id === 10 || (id >= 11 && id <= 13) || id === 48) return { kind: "other" };
  if ((id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 45 && id <= 47) || (id >= 50 && id <= 58))
    return { kind: "date", code: "" };
  return id >= 5 && id <= 8 ? { kind: "other" } : plain;
}

/** Codes of formats are at most so long; longer ones are not read. */
const longestCode = 255;

/** The format of a code such as `0.00` or `"SKU-"00000`. */
export function parseFormat(code: string): NumberFormat {
  if (code.length > longestCode) return { kind: "other" };
  const [section = ""] = splitSections(code);
  // Colors, conditions and languages; durations such as [h] stay, and a currency is text.
  const bare = section.replace(/\[(?:\$-[^\]]*|[^\]$hms][^\]]*)\]/gi, "");
  const symbols = bare.replace(/"[^"]*"|\\./g, "");
  if (/^general$/i.test(symbols.trim()) && symbols === bare) return plain;
  if (/[dmyhs]/i.test(symbols.replace(/general/gi, ""))) return { kind: "date", code: bare };
  if (/^0{2,}$/.test(bare)) return { kind: "padded", digits: bare.length };
  // `_x` leaves a space as wide as x, `*x` fills the cell.
  return /^[0#?.,\s]*$|^@$/.test(bare.replace(/[_*]./g, "")) && /[0#?@]/.test(bare)
    ? plain
    : { kind: "other" };
}

/** The sections of a code, for positive, negative and zero numbers, and text. */
function splitSections(code: string): string[] {
  return (code.match(/(?:"[^"]*"?|\\.|[^;"\\])+|;/g) ?? []).filter((part) => part !== ";");
}

/** What a cell with a number says. `isFrom1904`: how the workbook counts days. */
export function numberCell(raw: string, format: NumberFormat, isFrom1904: boolean): Omit<Cell, "column"> {
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(raw.trim()))
    return { text: raw, doubt: "error_cell" };
  if (format.kind === "date") return dateCell(Number(raw), format.code, isFrom1904);
  const text = decimalText(raw);
  if (text === null) return { text: raw, isNumber: true, doubt: "too_many_digits" };
  if (format.kind === "padded" && /^\d+$/.test(text)) return { text: text.padStart(format.digits, "0") };
  return {
    text,
    isNumber: true,
    ...(format.kind === "plain" ? {} : { doubt: "shown_differently" as const }),
  };
}

const dayMs = 86_400_000;

/** A date as the sheet shows it, if its format has digits only; else in ISO 8601, which is not what it shows. */
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
    ...{ yyyy: year, yy: year.slice(-2) },
    ...{ dd: two(day), d: String(day), mm: two(month), m: String(month) },
  };
  const tokens = code.match(/yyyy|yy|dd?|mm?|"[^"]*"|\\.|[-./\s]|./gi) ?? [];
  const texts = tokens.map((token) => {
    if (/^["\\]/.test(token)) return token.replace(/^["\\]|"$/g, "");
    return values[token.toLowerCase()] ?? (/^[-./\s]$/.test(token) ? token : null);
  });
  return texts.length === 0 || texts.includes(null) || /m{3}|d{3}/i.test(code) ? null : texts.join("");
}
