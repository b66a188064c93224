// A workbook is read once: the rows of its sheet go into a private copy, one JSON list per line, which each
// walk reads.

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { newFile } from "../../open-file.ts";
import { temporaryFolder, temporaryProblem } from "../files/disk.ts";
import type { ProgressEvent } from "../progress-event.ts";
import type { Cell } from "../workbook/cell.ts";
import { shownCount, shownSize, workbookLimits } from "../workbook/limits.ts";
import { openWorkbook } from "../workbook/open-workbook.ts";
import { damagedWorkbook } from "../workbook/package.ts";
import { noExtras, type SheetExtras, type SheetRow } from "../workbook/sheet.ts";
import { type ChoiceSource, chooseSheet, type RowsAbove, type SheetChoice } from "./choose-sheet.ts";

/** A row of the copy: its number, and its cells that are not empty. */
export type CopiedRow = readonly [row: number, ...cells: Cell[]];

export interface CopiedSheet {
  /** The file with the rows from the header on. */
  readonly path: string;
  readonly sheet: string;
  readonly extras: SheetExtras;
  /** Rows below the header that are hidden, which are read all the same. */
  readonly hiddenRows: number;
  /** Columns with a header that are hidden, which are read too. */
  readonly hiddenColumns: number;
  /** The rows above the header, which are not read. */
  readonly above: RowsAbove;
  readonly header: readonly string[];
  /** How many cells below the header are numbers, by column. */
  readonly numbers: ReadonlyMap<number, number>;
  /** How it was chosen among several visible ones; null if there was no choice. */
  readonly chosen: ChoiceSource | null;
  close(): Promise<void>;
}

export interface SheetReading extends SheetChoice {
  /** Whether hidden rows are left out. */
  readonly skipsHidden?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((event: ProgressEvent) => void) | undefined;
}

const step = "reading the sheet";

/** Copies rows of the sheet. Throws WorkbookError, a CatError without a temporary folder, system errors. */
export async function copySheet(path: string, name: string, choice: SheetReading): Promise<CopiedSheet> {
  choice.onProgress?.({ step, done: 0, total: null });
  const book = await openWorkbook(path, name);
  try {
    const { index, header, chosen } = await chooseSheet(book, name, choice);
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
        above: header.above,
        chosen,
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
  { name, skipsHidden, signal, onProgress }: SheetReading & { name: string },
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
        } else {
          if (isHidden) hiddenRows++;
          if (isHidden && skipsHidden) continue;
          for (const { column, isNumber } of cells)
            if (isNumber) numbers.set(column, (numbers.get(column) ?? 0) + 1);
        }
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
