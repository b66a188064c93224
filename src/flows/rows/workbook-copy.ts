// A workbook is read once: the rows of its sheet go into a private copy, one JSON list per line, which each walk reads.

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { newFile } from "../../open-file.ts";
import { temporaryFolder, temporaryProblem } from "../files/disk.ts";
import type { ProgressEvent } from "../progress-event.ts";
import type { Cell } from "../workbook/cell.ts";
import { shownCount, shownSize, workbookLimits } from "../workbook/limits.ts";
import { type OpenWorkbook, openWorkbook } from "../workbook/open-workbook.ts";
import { damagedWorkbook, WorkbookError } from "../workbook/package.ts";
import { noExtras, type SheetExtras, type SheetRow } from "../workbook/sheet.ts";

/** A row of the copy: its number, and its cells that are not empty. */
export type CopiedRow = readonly [row: number, ...cells: Cell[]];

/** The sheet that is read, and what is said of it once. */
export interface CopiedSheet {
  /** The file with the rows from the header on. */
  readonly path: string;
  readonly sheet: string;
  readonly extras: SheetExtras;
  /** Rows below the header that are hidden, which are read all the same. */
  readonly hiddenRows: number;
  /** Columns with a header that are hidden, which are read too. */
  readonly hiddenColumns: number;
  /** Rows above the header, which are left out. */
  readonly rowsAbove: number;
  /** The texts of its header, by column. */
  readonly header: readonly string[];
  /** How many cells below the header are numbers, by column. */
  readonly numbers: ReadonlyMap<number, number>;
  /** Whether the sheet was chosen among several visible ones, by its header. */
  readonly isChosen: boolean;
  close(): Promise<void>;
}

/** How to find the sheet and its header. */
export interface SheetChoice {
  /** The name of the sheet, as typed. */
  readonly sheet?: string | undefined;
  /** Whether hidden rows are left out. */
  readonly skipsHidden?: boolean | undefined;
  /** Whether a header is one of the columns that are looked for. */
  isColumn(header: string): boolean;
  /** Whether it probably means one of them; searched for where no header is one. */
  mayBeColumn?(header: string): boolean;
  /** Whether a single such column makes a header next to other ones. */
  readonly needsOne?: boolean | undefined;
  /** Asks which of several sheets to read; null where the user cannot be asked. */
  readonly ask: ((sheets: readonly string[]) => Promise<string>) | null;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((event: ProgressEvent) => void) | undefined;
}

const step = "reading the sheet";

/** Copies the rows of the chosen sheet. Throws WorkbookError, a CatError without a temporary folder, and errors of the file system. */
export async function copySheet(path: string, name: string, choice: SheetChoice): Promise<CopiedSheet> {
  choice.onProgress?.({ step, done: 0, total: null });
  const book = await openWorkbook(path, name);
  try {
    const { index, header, isChosen } = await chooseSheet(book, name, choice);
    const folder = temporaryFolder(copying(name));
    const close = () => rm(folder, { recursive: true, force: true });
    try {
      const extras = noExtras();
      const copy = join(folder, "rows");
      const { headers, ...counts } = await copyRows(book.rows(index, extras), copy, header.row, {
        ...choice,
        name,
      });
      const isHidden = (column: number) =>
        extras.columns.some((range) => range.isHidden && range.first <= column && column <= range.last);
      return {
        hiddenColumns: headers.filter(isHidden).length,
        path: copy,
        sheet: book.sheets[index]!.name,
        extras,
        ...counts,
        rowsAbove: header.rowsAbove,
        isChosen,
        close,
      };
    } catch (error) {
      await close();
      throw error;
    }
  } finally {
    book.close();
  }
}

const copying = (name: string): string => `copy ${name} to`;

/** Characters that are written at once. */
const pieceLength = 256 * 1024;

async function copyRows(
  batches: AsyncIterable<readonly SheetRow[]>,
  path: string,
  headerRow: number,
  { name, skipsHidden, signal, onProgress }: SheetChoice & { name: string },
): Promise<Pick<CopiedSheet, "hiddenRows" | "header" | "numbers"> & { headers: number[] }> {
  let headers: number[] = [];
  const limits = workbookLimits;
  const rejectIf = (isOver: boolean, what: string) => {
    if (isOver) throw damagedWorkbook(name, `the sheet has more than ${what}`);
  };
  let filled = 0;
  let strays = 0;
  let length = 0;
  let hiddenRows = 0;
  const header: string[] = [];
  const numbers = new Map<number, number>();
  let piece = "";
  const unwritable = (cause: unknown) => {
    throw temporaryProblem(copying(name), cause);
  };
  const file = await newFile(path).catch(unwritable);
  try {
    for await (const rows of batches) {
      signal?.throwIfAborted();
      onProgress?.({ step, done: rows.at(-1)?.row ?? 0, total: null });
      rejectIf(filled > limits.cells, `${shownCount(limits.cells)} cells with a value`);
      rejectIf(strays > limits.strayCells, `${shownCount(limits.strayCells)} values without a header`);
      for (const { row, isHidden, cells } of rows) {
        if (row < headerRow) continue;
        filled += cells.length;
        if (row === headerRow) {
          headers = cells.map(({ column }) => column);
          header.push(...Array<string>((headers.at(-1) ?? -1) + 1).fill(""));
          for (const { column, text } of cells) header[column] = text;
        }
        if (isHidden && row > headerRow) {
          hiddenRows++;
          if (skipsHidden) continue;
        }
        for (const { column, isNumber } of row === headerRow ? [] : cells)
          if (isNumber) numbers.set(column, (numbers.get(column) ?? 0) + 1);
        const named = belowHeader(cells, headers);
        strays += cells.length - named.length;
        const copied: CopiedRow = [row, ...named];
        piece += `${JSON.stringify(copied)}\n`;
        if (piece.length < pieceLength) continue;
        length += piece.length;
        rejectIf(length > limits.sheetText, `${shownSize(limits.sheetText)} of text`);
        await file.write(piece).catch(unwritable);
        piece = "";
      }
    }
    await file.write(piece).catch(unwritable);
    return { headers, header, hiddenRows, numbers };
  } finally {
    await file.close();
  }
}

/** The cells of a row below a header, and the first value beyond it. */
function belowHeader(cells: readonly Cell[], headers: readonly number[]): readonly Cell[] {
  const last = headers.at(-1) ?? 0;
  const beyond = cells.findIndex(({ column, text }) => column > last && text.trim() !== "");
  return beyond === -1 ? cells : cells.slice(0, beyond + 1);
}

async function chooseSheet(
  book: OpenWorkbook,
  name: string,
  choice: SheetChoice,
): Promise<{ index: number; header: Header; isChosen: boolean }> {
  const names = book.sheets.map((sheet) => sheet.name);
  const quoted = (indexes: readonly number[]) =>
    indexes.map((index) => JSON.stringify(names[index])).join(", ");
  if (choice.sheet !== undefined) {
    const [exact, wanted] = [choice.sheet, choice.sheet.toLowerCase()];
    const alike = names.findIndex((sheet) => sheet.toLowerCase() === wanted);
    const index = names.includes(exact) ? names.indexOf(exact) : alike;
    if (index !== -1) {
      const [copied] = await filledSheets(book, [index], choice);
      return { index, header: copied?.header ?? { row: 1, columns: 0, rowsAbove: 0 }, isChosen: false };
    }
    const hint = `Its sheets: ${quoted([...names.keys()])}.`;
    throw new WorkbookError("unknown_sheet", `${name} has no sheet ${JSON.stringify(choice.sheet)}`, hint);
  }
  const visible = [...names.keys()].filter((index) => !book.sheets[index]!.isHidden);
  const filled = await filledSheets(book, visible.length === 0 ? [...names.keys()] : visible, choice);
  if (filled.length === 0)
    throw new WorkbookError(
      "empty_file",
      `${name} has no rows in a visible sheet`,
      "Choose a sheet with --sheet.",
    );
  if (filled.length === 1) return { ...filled[0]!, isChosen: false };
  const most = Math.max(...filled.map(({ header }) => header.columns));
  const best = filled.filter(({ header }) => header.columns === most);
  if (most > 0 && best.length === 1) return { ...best[0]!, isChosen: true };
  const open = best.map(({ index }) => index);
  if (choice.ask !== null) {
    const answer = await choice.ask(open.map((index) => names[index]!));
    return { ...best.find(({ index }) => names[index] === answer)!, isChosen: false };
  }
  throw new WorkbookError(
    "which_sheet",
    `${name} has several sheets that may be meant: ${quoted(open)}`,
    "Choose one with --sheet.",
  );
}

/** The sheets with cells, and their headers: by known columns, else by headers that probably mean one. */
async function filledSheets(
  book: OpenWorkbook,
  indexes: readonly number[],
  { isColumn, mayBeColumn = () => false, needsOne = false }: SheetChoice,
): Promise<{ index: number; header: Header }[]> {
  const heads: { index: number; rows: SheetHead }[] = [];
  for (const index of indexes) heads.push({ index, rows: await book.head(index) });
  const withHeaders = (fits: (text: string) => boolean) =>
    heads.flatMap(({ index, rows }) => {
      const header = findHeader(rows, fits, needsOne ? 1 : 2);
      return header === null ? [] : { index, header };
    });
  const known = withHeaders(isColumn);
  const isKnown = known.some(({ header }) => header.columns > 0);
  return isKnown ? known : withHeaders((text) => isColumn(text) || mayBeColumn(text));
}

type SheetHead = Awaited<ReturnType<OpenWorkbook["head"]>>;

/** The header of a sheet: its row, its known columns, and the rows above it that have cells. */
interface Header {
  readonly row: number;
  readonly columns: number;
  readonly rowsAbove: number;
}

/**
 * The row of the header: the first row, or the one row of the next twenty with at least so many known columns, or nothing
 * else, where the first has none. Null for a sheet without cells.
 */
function findHeader(head: SheetHead, fits: (text: string) => boolean, least: number): Header | null {
  const rows = head.map(({ row, cells }) => {
    const filled = cells.filter(({ text }) => text.trim() !== "");
    const columns = filled.filter(({ text }) => fits(text)).length;
    return { row, columns, isHeader: columns >= least || (columns > 0 && columns === filled.length) };
  });
  const [first, ...others] = rows;
  if (first === undefined) return null;
  const better = first.columns > 0 ? [] : others.filter(({ isHeader }) => isHeader);
  return better.length === 1
    ? { ...better[0]!, rowsAbove: rows.indexOf(better[0]!) }
    : { ...first, rowsAbove: 0 };
}
