// Which sheet of a workbook is read, and which of its rows is the header.

import { listFirst, series } from "../words.ts";
import type { OpenWorkbook } from "../workbook/open-workbook.ts";
import { WorkbookError } from "../workbook/package.ts";
import { type FoundHeader, findHeader, type HeaderForm, missingColumns } from "./find-header.ts";
import { normalHeader } from "./row-form.ts";

export interface SheetChoice {
  readonly sheet?: string | undefined;
  /** How headers are judged: by the last form, if possible by those before it, which need more columns. */
  readonly forms: readonly [HeaderForm, ...HeaderForm[]];
  /** The columns that flags name, in the form of `normalHeader`: a sheet that has them comes first. */
  readonly mapped?: readonly string[] | undefined;
  /** The sheet that the user chose before: the user is not asked again. */
  readonly chosenBefore?: string | undefined;
  /** Asks which of several sheets to read; null where the user cannot be asked. */
  readonly ask: ((sheets: readonly AskedSheet[]) => Promise<string>) | null;
}

export interface AskedSheet {
  readonly name: string;
  readonly header: readonly string[];
}

/** How a sheet was chosen among several: by its columns, or as the user chose it before. */
export type ChoiceSource = "columns" | "memory";

export interface RowsAbove {
  readonly count: number;
  /** The number and the cells of the first one. */
  readonly row: number;
  readonly cells: readonly string[];
}

interface FilledSheet {
  readonly index: number;
  readonly name: string;
  readonly rows: readonly { readonly row: number; readonly record: readonly string[] }[];
}

interface JudgedSheet {
  readonly sheet: FilledSheet;
  readonly header: FoundHeader;
}

interface ChosenSheet {
  readonly index: number;
  readonly header: { readonly row: number; readonly above: RowsAbove };
  readonly chosen: ChoiceSource | null;
}

/**
 * The named sheet, else the only visible one with cells, else the only one that may have all columns, by
 * their names or by guesses; else the user chooses. Throws WorkbookError.
 */
export async function chooseSheet(
  book: OpenWorkbook,
  file: string,
  choice: SheetChoice,
): Promise<ChosenSheet> {
  const names = book.sheets.map(({ name }) => name);
  const { forms } = choice;
  const judge = (sheets: readonly FilledSheet[], form: HeaderForm): JudgedSheet[] =>
    sheets.map((sheet) => ({
      sheet,
      header: findHeader(
        sheet.rows.map(({ record }) => record),
        form,
      ),
    }));
  const last = forms.at(-1)!;
  if (choice.sheet !== undefined) {
    const index = findSheet(names, choice.sheet);
    if (index === -1) throw unknownSheet(file, choice.sheet, names);
    const [judged] = judge(await filledSheets(book, [index]), last);
    const empty = { index, header: { row: 1, above: noRows }, chosen: null };
    return judged === undefined ? empty : toChosen(judged, null);
  }
  const visible = [...names.keys()].filter((index) => !book.sheets[index]!.isHidden);
  const filled = await filledSheets(book, visible.length === 0 ? [...names.keys()] : visible);
  if (filled.length === 0)
    throw new WorkbookError(
      "empty_file",
      `${file} has no rows in a visible sheet`,
      "Choose a sheet with --sheet.",
    );
  if (filled.length === 1) return toChosen(judge(filled, last)[0]!, null);
  const wanted = withMapped(filled, choice.mapped ?? []);
  const ask = (among: readonly JudgedSheet[]) =>
    askWhich(choice, among, () => `${file} has several sheets that may be meant: ${quoted(among)}`);
  const passes: [HeaderForm, (header: FoundHeader) => boolean][] = [
    [forms[0], isNamed],
    // A sheet that can be imported as it is comes before guesses.
    [last, (header) => isNamed(header) && header.known >= header.filled],
  ];
  for (const [form, fits] of passes) {
    const fitting = judge(wanted, form).filter(({ header }) => fits(header));
    if (fitting.length > 0) return fitting.length === 1 ? toChosen(fitting[0]!, "columns") : ask(fitting);
  }
  for (const form of new Set(forms)) {
    const judged = judge(wanted, form);
    const fitting = judged.filter(({ header }) => header.has !== "less");
    if (fitting.length === 0) continue;
    // A sheet whose columns have other names may be the one that is meant.
    const others = fitting.every(({ header }) => header.has === "all") ? [] : judged.filter(mayBeMeant(form));
    const among = judged.filter((one) => fitting.includes(one) || others.includes(one));
    return among.length === 1 ? toChosen(among[0]!, "columns") : ask(among);
  }
  const judged = judge(wanted, last);
  return askWhich(choice, judged, () => `no sheet of ${file} has all columns: ${lacking(judged)}`);
}

const isNamed = ({ has }: FoundHeader): boolean => has === "all";

/** Whether a sheet may have what a form needs, whatever its columns are called: photo files, else a table. */
const mayBeMeant =
  (form: HeaderForm) =>
  ({ sheet: { rows }, header: { at, filled } }: JudgedSheet): boolean => {
    const cells = rows.slice(at + 1).flatMap(({ record }) => record);
    const needsPhotos = missingColumns([""], form).some((field) => /image/.test(field));
    return needsPhotos
      ? cells.some((cell) => /\.(?:jpe?g|png|webp|gif|heic|tiff?)(?:\?\S*)?$/i.test(cell.trim()))
      : filled > 1 && cells.length > 0;
  };

async function askWhich(
  { chosenBefore, ask }: SheetChoice,
  among: readonly JudgedSheet[],
  why: () => string,
): Promise<ChosenSheet> {
  const named = (name: string | null) => among.find(({ sheet }) => sheet.name === name);
  const known = named(chosenBefore ?? null);
  if (known !== undefined) return toChosen(known, "memory");
  if (ask === null) throw new WorkbookError("which_sheet", why(), "Choose one with --sheet.");
  const asked = among.map(({ sheet: { name, rows }, header: { at } }) => ({
    name,
    header: rows[at]!.record,
  }));
  return toChosen(named(await ask(asked))!, null);
}

/** The sheets that have all columns that flags name, if any has them. */
function withMapped(sheets: readonly FilledSheet[], mapped: readonly string[]): readonly FilledSheet[] {
  if (mapped.length === 0) return sheets;
  const having = sheets.filter(({ rows }) =>
    rows.some(({ record }) => {
      const headers = new Set(record.map(normalHeader));
      return mapped.every((column) => headers.has(column));
    }),
  );
  return having.length === 0 ? sheets : having;
}

const noRows: RowsAbove = { count: 0, row: 1, cells: [] };

function toChosen(
  { sheet: { index, rows }, header: { at } }: JudgedSheet,
  chosen: ChoiceSource | null,
): ChosenSheet {
  const [first] = rows;
  const above = at === 0 ? noRows : { count: at, row: first!.row, cells: first!.record };
  return { index, header: { row: rows[at]!.row, above }, chosen };
}

async function filledSheets(book: OpenWorkbook, indexes: readonly number[]): Promise<FilledSheet[]> {
  const filled: FilledSheet[] = [];
  for (const index of indexes) {
    const head = await book.head(index);
    const rows = head.map(({ row, cells }) => {
      const record = Array<string>((cells.at(-1)?.column ?? -1) + 1).fill("");
      for (const { column, text } of cells) record[column] = text;
      return { row, record };
    });
    const withText = rows.filter(({ record }) => record.some((cell) => cell.trim() !== ""));
    if (withText.length > 0) filled.push({ index, name: book.sheets[index]!.name, rows: withText });
  }
  return filled;
}

function findSheet(names: readonly string[], wanted: string): number {
  const exact = names.indexOf(wanted);
  return exact === -1 ? names.findIndex((name) => name.toLowerCase() === wanted.toLowerCase()) : exact;
}

const unknownSheet = (file: string, sheet: string, names: readonly string[]): WorkbookError => {
  const hint = `Its sheets: ${names.map((name) => JSON.stringify(name)).join(", ")}.`;
  return new WorkbookError("unknown_sheet", `${file} has no sheet ${JSON.stringify(sheet)}`, hint);
};

const quoted = (sheets: readonly JudgedSheet[]): string =>
  sheets.map(({ sheet }) => JSON.stringify(sheet.name)).join(", ");

/** Sheets that are named in a message. */
const namedSheets = 5;

const lacking = (sheets: readonly JudgedSheet[]): string =>
  listFirst(
    sheets.map(
      ({ sheet, header: { missing } }) => `${JSON.stringify(sheet.name)} lacks ${series(missing, "and")}`,
    ),
    namedSheets,
  );
