// Lines of a table that are not its rows, and headers that another program has spoiled: named as what they
// are.

import { shortened } from "../../contract/did-you-mean.ts";
import { ulidPattern } from "../../contract/limits.ts";
import { withoutEnd } from "../../text.ts";
import type { RowForm } from "./row-form.ts";
import { normalHeader } from "./row-form.ts";

/** Lines that programs write below a table, by first text; `isAlone`: only without other texts. */
const belowTables: readonly { readonly what: string; readonly text: RegExp; readonly isAlone: boolean }[] = [
  {
    what: "a total",
    text: /^(?:(?:grand|sub|net|gross)[ -]?)?(?:totals?|sum|gesamt(?:summe|betrag)?|(?:zwischen|end)?summe|insgesamt|totale?s?|totaux|totaal|somma|suma|razem|łącznie|celkem|összesen|yhteensä|totalt|toplam|σύνολο|итого|всего|合計|小計|総計)(?=$|[\s:：=(])[\s:：=]*(?:\([^)]{0,20}\)\s*)?(?:[-+]?[\d.,' \u00a0]{1,30}\D{0,20})?$/iu,
    isAlone: false,
  },
  {
    what: "the count of a database or a report",
    text: /^(?:\(\s*)?\d{1,15} (?:rows?|row\(s\)|records?|results?|lines?|entries|items?|products?|zeilen?|datens[äa]tze?|eintr[äa]ge?|artikel|produkte?|lignes?|filas?|righe|rader)(?: (?:affected|selected|returned|exported|found|total|in set|betroffen|ausgewählt|gefunden|exportiert)(?: \([\d.,]+ ?s(?:ec)?\))?)?\s*\)?\.?$/iu,
    isAlone: true,
  },
  {
    what: "the count of a database or a report",
    text: /^(?:(?:total|number|anzahl)(?: of)?(?: \p{L}{2,20}){0,2}|count|records?|fetched|query ok)\s*(?:[:=,]\s*)?\d[\d.,]{0,15}(?: rows?(?: affected)?(?: \([\d.,]+ ?s(?:ec)?\))?)?$/iu,
    isAlone: true,
  },
  {
    what: "the number of a page",
    text: /^-?\s*(?:page|seite|pagina?|página)\s*\d{1,6}(?:\s*(?:of|von|\/|de|di)\s*\d{1,6})?\s*-?$/iu,
    isAlone: true,
  },
  {
    what: "a remark of a program",
    text: /^\W{0,5}(?:end of (?:report|file|list|export|data)\W{0,5}|(?:exported|generated|created|printed|erstellt|exportiert|gedruckt)(?: (?:on|at|by|from|with|am|von|mit|um))\b.{0,100}|completion time: \d.{0,40}|\[\d+ rows x \d+ columns\])$/iu,
    isAlone: true,
  },
];

/** Cells of a line that separates a header or a total. */
const dashes = /^[-=_+*~|]{3,}$/;

/** Such as `12`, `1.234,50 €`, `3 pcs`; also an empty cell. */
const isFigure = (text: string): boolean =>
  text === "" ||
  (text.length < 40 && /^[^\p{L}\d]*\d[\d.,' \u00a0]*(?:%|\p{Sc}|\p{L}{1,12}\.?)?$/u.test(text));

/** Nearly every row starts with none of these, and needs no other test. */
const mayBeOdd =
  /^[\s"'(\-=_+*~|]*(?:tot|number |count\b|records?:|completion time|\[\d|fetched |query ok|anzahl|sum|som|grand|sub|net|gross|gesamt|zwischen|end|insges|raz|łącz|celk|össz|yht|topl|σύν|ито|все|合|小|総|pag|seit|pág|export|gener|creat|print|erst|gedr|\d{1,15} |[-=_+*~|(]|$)/i;

/** Whether a cell may be the name of its column: it is as long, and starts with the same letter. */
const mayBeName = (text: string, name: string): boolean =>
  text.length === name.length && (text.charCodeAt(0) | 0x20) === (name.charCodeAt(0) | 0x20);

/** Says why a line of a table is not a row of it; null for a row. `header`: the names of the same cells. */
export function oddLine(record: readonly string[], header: readonly string[]): string | null {
  // Nearly every row has a text in its first cell, which is not its name.
  const start = record[0] ?? "";
  if (!mayBeName(start, header[0] ?? "") && !mayBeOdd.test(start)) return null;
  const at = record.findIndex((cell) => cell.trim() !== "");
  if (at === -1) return null;
  // The comma in the message of a database separates no cells.
  const isCut = /^query ok$/i.test(record[at]!.trim());
  const text = isCut ? withoutEnd(record.slice(at).join(","), /,/) : record[at]!.trim();
  if (isHeader(record, header, at)) return "this line repeats the header: remove it";
  const rest = isCut ? [] : record.slice(at + 1).map((cell) => cell.trim());
  const what = text.length > longestText ? null : whatIs(text, rest, header);
  return what === null ? null : `${shortened(text)} is ${what}, not a row of the table: remove the line`;
}

/** A line that programs write around a table, by its first text and the others; null for any other. */
function whatIs(text: string, rest: readonly string[], header: readonly string[]): string | null {
  const isAlone = rest.every((cell) => cell === "");
  if (dashes.test(text) && rest.every((cell) => cell === "" || dashes.test(cell)))
    return isAlone && text.length < 5 ? null : "a line of dashes";
  // Where the table has one column only, a single word may be a reference.
  const isNamed = header.length > 1 || /[\d:]/.test(text);
  if (!isNamed || !rest.every(isFigure)) return null;
  return belowTables.find((one) => (isAlone || !one.isAlone) && one.text.test(text))?.what ?? null;
}

/** No line below a table is longer. */
const longestText = 200;

/** Whether the cells are the names of their columns; `at`: the first one with a text. */
function isHeader(record: readonly string[], header: readonly string[], at: number): boolean {
  const isLonger = record.slice(header.length).some((cell) => cell.trim() !== "");
  if (isLonger || normalHeader(record[at]!) !== normalHeader(header[at]!)) return false;
  return header.every((title, column) => normalHeader(title) === normalHeader(record[column] ?? ""));
}

export const delimiters = [",", ";", "\t", "|"] as const;

/** The cells of a line without their quotes: exact enough to count and recognize them. */
export function parseCells(line: string, delimiter: string): string[] {
  const cells: string[] = [];
  let quoted = false;
  let start = 0;
  for (let at = 0; at <= line.length; at++) {
    const character = line[at];
    if (quoted && character === '"' && line[at + 1] === '"') at++;
    else if (character === '"' && (quoted || at === start)) quoted = !quoted;
    else if (character === undefined || (character === delimiter && !quoted)) {
      const cell = line.slice(start, at);
      cells.push(cell.startsWith('"') ? cell.replace(/^"|"$/g, "").replaceAll('""', '"') : cell);
      start = at + 1;
    }
  }
  return cells;
}

export const hasNames = (text: string, isName: (cell: string) => boolean): boolean =>
  delimiters.some((delimiter) => parseCells(text, delimiter).filter(isName).length > 1);

/** No line of names is nearly as long. */
const longestHeader = 10_000;

/** The byte order mark of UTF-8, as code pages read it. */
const markAsText = /^(?:ï»¿|ď»ż|п»ї|ο»Ώ|ן»¿|Ôªø|∩╗┐|´╗┐)/;

/** Whether a text means a column, or a field that is guessed. */
export const nameTest =
  ({ isColumn, words }: Pick<RowForm, "isColumn" | "words">) =>
  (cell: string): boolean =>
    cell.trim() !== "" && (isColumn(cell) || (words?.nearest(cell).length ?? 0) > 0);

/** The message about a text at the start of a file that was its byte order mark; null without. */
export function spoiledMark(text: string): string | null {
  const [mark] = markAsText.exec(text) ?? [];
  return mark === undefined
    ? null
    : `the header starts with ${mark}, a byte order mark that was read as text: save the file again from its original, as UTF-8, or remove these characters`;
}

/** Says how a header was spoiled by a program that saved the file again; null if it was not. */
export function spoiledHeader(header: readonly string[], form: RowForm, isSheet: boolean): string | null {
  const filled = header.filter((cell) => cell.trim() !== "");
  const last = filled.at(-1);
  // A column that was mapped with its mark is read as it is.
  const mark = filled.length > 0 && !form.isColumn(filled[0]!) ? spoiledMark(filled[0]!) : null;
  if (mark !== null) return mark;
  if (last === undefined || last.length > longestHeader || form.isColumn(last)) return null;
  if (/^[┌╭╔┏]/.test(filled[0]!))
    return "this is a table with a frame, as programs show it on a screen: save it as CSV from the program";
  const isName = nameTest(form);
  if (filled.length === 1 && hasNames(last, isName)) {
    if (isSheet) return "all columns are in one cell: split them (in Excel: Data, Text to Columns)";
    // Without empty cells after it, only quotes keep a line together.
    return header.length > 1
      ? "each line is one cell with all columns in it, because the file was saved again with another separator: save the original file again as CSV"
      : 'each line is one quoted cell with all columns in it: save the file again as CSV from the program that made it, or remove the quotes around each line and write each "" in it as "';
  }
  return (
    spoiledEnds(last, isName) ??
    (isRow(filled, form)
      ? "this line is a row, not a header: add a line with the names of the columns above it"
      : null)
  );
}

const isPhoto = (text: string): boolean =>
  /^https?:\/\/[^/]+\/.|\.(?:jpe?g|png|webp)$/i.test(text.trim()) || ulidPattern.test(text.trim());

/** Whether a header is a row, by its photo; a plain list has references, and no header. */
const isRow = (filled: readonly string[], { isColumn, words }: RowForm): boolean =>
  filled.length > 1 && words?.needsOne !== true && filled.some(isPhoto) && !filled.some(isColumn);

/**
 * Whether a line above a header is a row, as in a sheet that was sorted with its header: it has a photo, or
 * as many cells and a code as reference. Titles have fewer cells or no code, and numbered columns one word.
 */
export function isRowAbove(record: readonly string[], header: readonly string[], at: number): boolean {
  const [texts, names] = [record, header].map((cells) => cells.filter((cell) => cell.trim() !== "")) as [
    string[],
    string[],
  ];
  if (texts.length > 2 && texts.some(isPhoto)) return true;
  const isOne = new Set(texts.map((text) => text.replace(/\d+/g, ""))).size === 1;
  const isAll = texts.length > 1 && texts.length === names.length;
  return isAll && !isOne && isCode.test(record[at]?.trim() ?? "");
}

const isCode = /^[^\s#\d]*\d\S*$/;

/** The message about delimiters of another program at the end of a header; null without. */
function spoiledEnds(last: string, isName: (cell: string) => boolean): string | null {
  const name = withoutEnd(last, /[;,\t|\s]/);
  const end = last.slice(name.length).trimStart() || last.slice(name.length);
  if (!/[;,\t|]/.test(end) || !(name === "" || isName(name))) return null;
  const shown = JSON.stringify(end.trim() === "" ? end : end.trim());
  return `the lines end with ${shown}, because the file was saved again with another separator: save the original file again as CSV, or remove ${shown} from the end of each line`;
}
