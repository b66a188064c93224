// Texts that a program has damaged, by their shape alone, so that every format of files is judged alike. What
// is lost for certain is a problem; what may be damage is a note.

import { shortened } from "../../contract/did-you-mean.ts";
import { isPlainText } from "../../text.ts";
import type { CellDoubt } from "../workbook/cell.ts";
import { isDateLike } from "./date-like.ts";
import { isDoubleEncoded } from "./double-encoded.ts";
import type { FieldNote } from "./notes.ts";
import type { FieldProblem } from "./row-form.ts";

/** The fields that are judged: a reference is a code, the others are texts. */
export const judgedFields = ["reference", "name", "description"] as const;
export type JudgedField = (typeof judgedFields)[number];

/** The kinds of notes on texts that may be damaged, or that say how a file writes its references. */
type DoubtCode =
  | "whole_decimal"
  | "decimal"
  | "formatted_number"
  | "leading_apostrophe"
  | "date_like"
  | "empty_word"
  | "double_encoded";

/** The errors of Excel, LibreOffice and Google Sheets, in the languages in which they are shown. */
const errorNames: ReadonlySet<string> = new Set(
  (
    "N/A REF! VALUE! NAME? NUM! NULL! SPILL! CALC! FIELD! BLOCKED! CONNECT! UNKNOWN! BUSY! PYTHON! EXTERNAL! TIMEOUT! ERROR! MACRO? GETTING_DATA " +
    "NV BEZUG! WERT! ZAHL! ÜBERLAUF! KALK! FELD! BLOCKIERT! VERBINDEN! UNBEKANNT! FEHLER! DATEN_ABRUFEN " +
    "VALEUR! NOM? NOMBRE! NUL! PROPAGATION! CALCUL! CHAMP! ERREUR! CHARGEMENT_DONNEES " +
    "N/D ¡REF! ¡VALOR! ¿NOMBRE? ¡NUM! ¡NULO! ¡DESBORDAMIENTO! ¡CALC! ¡CAMPO! ¡ERROR! NOMBRE? VALOR! NULO! CAMPO! " +
    "RIF! VALORE! NOME? NULLO! ESPANSIONE! CALCOLO! CAMPO! ERRORE! NÚM! DESPEJAR! DESPEJO! ERRO! " +
    "N/B VERW! WAARDE! NAAM? GETAL! LEEG! OVERLOOP! N/D! ADR! ARG! NAZWA? LICZBA! ZERO! ROZLANIE! " +
    "SAKNAS! REFERENS! VÄRDEFEL! NAMN? OGILTIGT! SKÄRNING! I/T I/T! REFERENCE! VÆRDI! NAVN? VERDI! " +
    "PUUTTUU! VIITTAUS! ARVO! NIMI? LUKU! TYHJÄ! ODKAZ! HODNOTA! DĚLENÍ_NULOU! NÁZEV? ČÍSLO! NENÍ_K_DISPOZICI " +
    "HIÁNYZIK HIV! ÉRTÉK! ZÉRÓOSZTÓ! NÉV? SZÁM! NULLA! YOK BAŞV! DEĞER! AD? SAYI! BOŞ! " +
    "Н/Д ССЫЛКА! ЗНАЧ! ИМЯ? ЧИСЛО! ПУСТО! ПЕРЕНОС! " +
    "NEDOSTUPNÝ DELENIENULOU! NÁZOV? N/V VREDN! SKLIC! ΤΙΜΗ! ΑΝΑΦ! Δ/Υ VRIJ! PUUDUB"
  ).split(" "),
);
const longestError = 20;

/** Those that are errors without their last sign too; #NAME and #FIELD may be tags. */
const cutErrors =
  /^#(?:¡?REF|VALUE|BEZUG|WERT|VALEUR|¡?VALOR|RIF|VALORE|VERW|WAARDE|VÄRDEFEL|VÆRDI|ADR|ARG|HODNOTA|ODKAZ|ÉRTÉK|DEĞER|BAŞV|ЗНАЧ|ССЫЛКА|(?:¡?DIV|DEEL|DZIEL|DIVISION|JAKO|SAYI|ДЕЛ)\/0)$/;

/** Division by zero in any language; others may be exclamations, such as #LOVE!. */
const divisionByZero = /^#[¡¿]?[\p{L}_]+\/0[!?]$/u;

const isErrorName = (text: string): boolean =>
  text.length <= longestError &&
  (text.startsWith("#")
    ? errorNames.has(text.slice(1).toUpperCase()) || divisionByZero.test(text) || cutErrors.test(text)
    : /^err:[1-9]\d{2}$/i.test(text));

/** A number with an exponent, as spreadsheets and programs write it; 1e6 may be a code. */
const scientific = /^[+-]?(?:\d+(?:[.,]\d*)?e\+\d{1,3}|\d+[.,]\d+e-?\d{1,3})$/i;

/** The character for those that a program could not read, also encoded twice, and half of a character. */
const lostCharacter = /\ufffd|ï¿½|\p{Cs}/u;

/** The damage of a text that is lost for certain; null for any other. */
function lossOf(word: string, isCode: boolean): readonly [code: string, message: string] | null {
  const saved = "and save the sheet again";
  if (isErrorName(word))
    return ["error_text", `is ${word}, an error of a spreadsheet: correct its formula, ${saved}`];
  if (/^#+$/.test(word))
    return ["narrow_column", `is only #, as in a column that is too narrow: widen it, ${saved}`];
  if (isCode && scientific.test(word))
    return [
      "lost_digits",
      `is ${word}, a number without its other digits: import the original workbook itself, or save it as CSV again with the column as Number without decimals${/e\+/i.test(word) ? "" : "; for codes like that, add --codes-as-written"}`,
    ];
  return lostCharacter.test(word)
    ? ["lost_characters", `has characters that were lost (${shortened(word)}): ${savedAsUtf8}`]
    : null;
}

const savedAsUtf8 = "save the sheet again from its original, as UTF-8";

/** Words of programs and databases for a value that is missing. */
const emptyWord =
  /^(?:undefined|null|nan|none|n\/a|[([<{](?:undefined|null|nan|none|nil|na|blank|leer)[)\]>}])$/i;
/** The same as they are written alone, and within a text that a program has put together. */
const emptyPart =
  /^(?:NA|NaT|\\N)$|\[object \w+\]|(?:^|[-_./])(?:undefined|NaN)(?=$|[-_./])| (?:undefined|NaN)$/;
/** In a name, these words may be ones of the language: undefined beauty. */
const emptyWordOfCode = /^(?:undefined|NaN) | (?:undefined|NaN) /;
const emptyCodePart = /(?:^|[-_./])null(?=$|[-_./])/;

/** A number in groups of three digits; with points, one group may be a part of a code. */
const grouped =
  /^[+-]?\d{1,3}(?:(?:,\d{3})+(?:\.\d+)?|(?:['’\u00a0\u202f]\d{3})+(?:[.,]\d+)?|(?:\.\d{3})+,\d+|(?:\.\d{3}){2,})$/;

/** Starts or parts of references and names that may be damaged, such as a month. */
const suspicious =
  /[^\x00-\x7f]|^\s*(?:#|err:|'|[+-]?\d+[^\dA-DF-Z_]|[([<{\\]|undefined|(?:null|nan|none|n\/?a|nat)\b|(?:ja|f[eé]|m[aeä]|a[pubgvr]|n[io]|ju|gi|ha|s[ezirt]|ey|o[ckt]|ek|k[aw]|d[eéi]|ene|l[iu]|tem|cze|wrz|gru)[a-z]*\.?[-./ ]+\d|(?:mon|tue|wed|thu|fri|sat|sun) )/i;
function endsWithWord(text: string): boolean {
  switch (text[text.length - 1]) {
    case "d":
      return text.endsWith("undefined");
    case "N":
      return text.endsWith("NaN");
    case "l":
      return text.endsWith("null");
    default:
      return text.endsWith("]");
  }
}

const longestWord = 20;

/** What descriptions have that lost characters or, in most languages, were encoded twice: quick to find. */
const descriptionSigns = ["\ufffd", "Ã", "â", "Ă", "Ĺ", "Å‚", "Å¡", "Ä±", "áº", "Р°", "Г©"];

/** Whether a text needs a second look: nearly all are sound, and descriptions are long. */
const isSuspicious = (field: JudgedField, text: string): boolean =>
  field === "description"
    ? text.length <= longestWord || descriptionSigns.some((sign) => text.includes(sign))
    : endsWithWord(text) || suspicious.test(text);

/** The code of possible damage; null for a sound text. */
function doubtOf(text: string, field: JudgedField): DoubtCode | null {
  if (!isPlainText(text) && isDoubleEncoded(text)) return "double_encoded";
  if (emptyWord.test(text) || emptyPart.test(text)) return "empty_word";
  if (field === "description") return null;
  if (isDateLike(text, field === "name")) return "date_like";
  if (field === "name") return scientific.test(text) ? "formatted_number" : null;
  if (emptyWordOfCode.test(text) || emptyCodePart.test(text)) return "empty_word";
  if (grouped.test(text)) return "formatted_number";
  if (/^'[^']+$/.test(text)) return "leading_apostrophe";
  if (/^[+-]?\d+[.,]\d+$/.test(text)) return /[.,]0+$/.test(text) ? "whole_decimal" : "decimal";
  return null;
}

interface Damage {
  readonly problem?: FieldProblem;
  readonly note?: FieldNote;
}

/** The damage of a field; null for a sound one. */
export function damageOf(field: JudgedField, value: unknown): Damage | null {
  if (typeof value !== "string" || !isSuspicious(field, value)) return null;
  const text = value.trim();
  const loss = lossOf(text, field === "reference");
  if (loss !== null) return { problem: { param: field, code: loss[0], message: `${field} ${loss[1]}` } };
  const code = doubtOf(text, field);
  return code === null ? null : { note: { code, param: field, value: text } };
}

/** Whether a reference may not be the one that was meant: another row with it may be another product. */
export function isDoubtfulReference(reference: string): boolean {
  const damage = damageOf("reference", reference);
  return damage !== null && damage.note?.code !== "decimal";
}

/** The reference probably meant, such as 1001 for 1001.0, 1,001 and '1001; null for others. */
export function meantReference(reference: string): string | null {
  switch (damageOf("reference", reference)?.note?.code) {
    case "whole_decimal":
      // In a German sheet 1.000 is 1000.
      return /^[+-]?\d{1,3}[.,]000$/.test(reference) ? null : reference.replace(/[.,]0+$/, "");
    case "formatted_number":
      return meantNumber(reference);
    case "leading_apostrophe":
      return reference.slice(1);
    default:
      return null;
  }
}

/** A number without its groups, and without decimals that are zeros; null with others. */
function meantNumber(text: string): string | null {
  const signs = text.slice(1).match(/\D/g)!;
  const hasDecimals = signs[0] !== signs.at(-1);
  const whole = hasDecimals ? text.replace(/[.,]0+$/, "") : text;
  return hasDecimals && whole === text ? null : whole.replace(/[^\d+-]/g, "");
}

const asText = "format the column as Text and type it again";

const doubtfulCells: Readonly<Record<CellDoubt, readonly [code: string, message: string]>> = {
  error_cell: ["error_cell", "the cell has the error TEXT: correct it"],
  no_value: [
    "formula_without_value",
    "the file has no value for this formula: open it in Excel or LibreOffice and save it",
  ],
  too_many_digits: ["too_many_digits", `a spreadsheet keeps only 15 digits of this number: ${asText}`],
  date: ["date_in_text", `the cell is a date, not a text: ${asText}`],
  shown_differently: ["shown_differently", `the sheet shows TEXT as another text: ${asText}`],
  image_in_cell: ["image_in_cell", "a picture in a cell cannot be read: use its URL or the name of a file"],
};

/** The problem of a cell of a workbook that is no text: what it is says more than its shape. */
export function damagedCell(text: string, doubt: CellDoubt): Pick<FieldProblem, "code" | "message"> {
  const [code, message] = doubtfulCells[doubt];
  return { code, message: message.replace("TEXT", text) };
}

interface RowDamage {
  readonly problems: readonly FieldProblem[];
  readonly notes: readonly FieldNote[];
}

const sound: RowDamage = { problems: [], notes: [] };

/** `written`: references are codes as they are written, unless that is a code nowhere. */
export type JudgedKind = "all" | "written" | "none";

/** Judges rows once and keeps what it found: a million rows are not looked at again. */
export class DamageFinder {
  readonly #found = new WeakMap<object, RowDamage>();
  readonly #judged: JudgedKind;

  constructor(judged: JudgedKind = "all") {
    this.#judged = judged;
  }

  /** Judges a row. `isSound`: whether a field is known to be sound, whatever its shape. */
  judge(row: unknown, isSound: (field: JudgedField) => boolean): RowDamage {
    if (typeof row !== "object" || row === null) return sound;
    const { reference, name, description } = row as Partial<Record<JudgedField, unknown>>;
    const ofReference = damageOf("reference", reference);
    const ofName = damageOf("name", name);
    const ofDescription = damageOf("description", description);
    if (ofReference === null && ofName === null && ofDescription === null) return sound;
    const damages = [ofReference, ofName, ofDescription].flatMap((damage, index) => {
      const field = judgedFields[index]!;
      return damage === null || this.#mayBeMeant(damage, field) || isSound(field) ? [] : [damage];
    });
    const problems = damages.flatMap(({ problem }) => problem ?? []);
    const found = { problems, notes: damages.flatMap(({ note }) => note ?? []) };
    this.#found.set(row, found);
    return found;
  }

  #mayBeMeant({ problem }: Damage, field: JudgedField): boolean {
    if (this.#judged !== "written") return this.#judged === "none";
    return field === "reference" && (problem === undefined || problem.code === "lost_digits");
  }

  /** Whether another row with this reference may be another product; all digits of 1001.0 are there. */
  isDoubtful(reference: string): boolean {
    const damage = damageOf("reference", reference);
    if (damage === null || this.#mayBeMeant(damage, "reference")) return false;
    return damage.note?.code !== "decimal" && damage.note?.code !== "whole_decimal";
  }

  of(row: unknown): RowDamage {
    return this.#found.get(row as object) ?? sound;
  }

  hasLost(row: unknown, field: JudgedField): boolean {
    return this.of(row).problems.some(({ param }) => param === field);
  }
}
