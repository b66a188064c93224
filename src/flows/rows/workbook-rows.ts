// Rows of a sheet: texts as the sheet has them, and a problem where they cannot be known.

import split2 from "split2";
import { parseJson } from "../../json.ts";
import { photoEnding } from "../files/file-names.ts";
import { type Cell, columnName } from "../workbook/cell.ts";
import type { MergedRange } from "../workbook/sheet.ts";
import { damagedCell } from "./damage.ts";
import type { FieldNote } from "./notes.ts";
import type { Place } from "./problem.ts";
import { recordBatches } from "./records.ts";
import { type CellProblem, type InputRow, type RowForm, withoutHeader } from "./row-form.ts";
import { isBlank, TableReader, type TableRow } from "./table-rows.ts";
import type { CopiedRow, CopiedSheet } from "./workbook-copy.ts";

type SheetTableRow = TableRow & { readonly cells: readonly Cell[] };

export class WorkbookReader extends TableReader {
  readonly #open: () => AsyncIterable<Buffer>;
  readonly #sheet: CopiedSheet;
  #merged: readonly (readonly MergedRange[])[] = [];

  constructor(open: () => AsyncIterable<Buffer>, sheet: CopiedSheet, form: RowForm) {
    super(form);
    this.#open = open;
    this.#sheet = sheet;
  }

  async *batches(): AsyncGenerator<SheetTableRow[]> {
    for await (const texts of recordBatches<string>(this.#open(), split2())) {
      const rows: SheetTableRow[] = [];
      for (const text of texts) {
        const [line, ...cells] = parseJson(text) as CopiedRow;
        if (this.header.length === 0) this.#readHeaderCells(cells, line);
        else rows.push(...this.#row(cells, line));
      }
      if (rows.length > 0) yield rows;
    }
  }

  protected override place(line: number, column: number, record: readonly string[] = []): Place {
    // Added columns are not in the sheet.
    const isOwn = column >= 0 && column < this.width;
    return this.#cellAt(
      line,
      isOwn ? column : record.slice(0, this.width).findIndex((text) => text.trim() !== ""),
    );
  }

  #cellAt(line: number, column: number): Place {
    return { sheet: this.#sheet.sheet, cell: `${columnName(Math.max(0, column))}${line}` };
  }

  protected override cellProblems(row: TableRow): readonly CellProblem[] {
    const problems = [...super.cellProblems(row)];
    for (const cell of (row as SheetTableRow).cells) {
      const name = cell.column < this.width ? this.columns.names[cell.column] : null;
      const problem = name == null ? null : cellProblem(cell, name);
      if (problem !== null) problems.push({ column: cell.column, ...problem });
    }
    this.#merged.forEach((ranges, column) => {
      const range = rangeAt(ranges, row.line);
      if (range !== undefined) problems.push({ column, code: "merged_cells", message: mergedMessage(range) });
    });
    return problems;
  }

  /** A cell with a problem needs no note as well. */
  override notes(row: InputRow): readonly FieldNote[] {
    const notes = super.notes(row);
    const { names } = this.columns;
    const isDamaged = (param: string | undefined) =>
      (row as SheetTableRow).cells.some(
        ({ column, doubt }) => doubt !== undefined && names[column] === param,
      );
    return notes.length === 0 ? notes : notes.filter(({ param }) => !isDamaged(param));
  }

  #readHeaderCells(cells: readonly Cell[], line: number): void {
    const width = Math.max(...cells.map(({ column }) => column)) + 1;
    const { count, row, cells: above } = this.#sheet.above;
    if (count > 0) {
      this.noteAbove(count, row, above);
      this.addAbove(row, above);
    }
    this.readHeader(toRecord(cells, width), line);
    const { merged } = this.#sheet.extras;
    this.#merged = this.columns.names.map((name, column) =>
      name === null
        ? []
        : merged
            .filter(
              ({ firstRow, lastRow, firstColumn, lastColumn }) =>
                lastRow > Math.max(line + 1, firstRow) && firstColumn <= column && column <= lastColumn,
            )
            .sort((a, b) => a.firstRow - b.firstRow),
    );
  }

  #row(cells: readonly Cell[], line: number): SheetTableRow[] {
    const { names } = this.columns;
    const linked = cells.map((cell) => {
      const isPhoto = cell.column < this.width && names[cell.column]?.startsWith("image");
      // The link of a cell that is in doubt may be older than what its formula will be.
      const link =
        cell.link ??
        (isPhoto && cell.doubt === undefined
          ? this.#sheet.extras.links.get(`${columnName(cell.column)}${line}`)
          : undefined);
      if (link === undefined) return cell;
      const { link: _, ...own } = cell;
      return isPhoto ? withLink(own, link) : own;
    });
    const record = toRecord(linked, this.width);
    const beyond = cells.find(({ column, text }) => column >= this.width && text.trim() !== "");
    if (beyond === undefined && isBlank(record)) return [];
    const row = { ...this.completeRow(record, line), cells: linked };
    if (beyond === undefined || row.fault !== undefined) return [row];
    const reference = this.form.readReference(row.content);
    return [
      {
        ...row,
        fault: {
          line,
          ...this.#cellAt(line, beyond.column),
          reference,
          code: "invalid_row",
          message: withoutHeader,
        },
      },
    ];
  }
}

/** The range with a row, by halving: a sheet may have very many, in order per column. */
function rangeAt(ranges: readonly MergedRange[], row: number): MergedRange | undefined {
  let [first, end] = [0, ranges.length];
  while (first < end) {
    const middle = (first + end) >> 1;
    if (ranges[middle]!.lastRow < row) first = middle + 1;
    else end = middle;
  }
  const range = ranges[first];
  return range !== undefined && range.firstRow <= row ? range : undefined;
}

/** The texts of the cells below a header of so many columns; cells beyond it have no name. */
function toRecord(cells: readonly Cell[], width: number): string[] {
  const record = Array<string>(width).fill("");
  for (const { column, text } of cells) if (column < width) record[column] = text;
  return record;
}

const isUrl = (text: string): boolean => /^https?:\/\//i.test(text.trim());

/** A photo's cell, with the target of its link where its text is no image itself. */
function withLink(cell: Cell, link: string): Cell {
  const { doubt, ...own } = cell;
  const text = cell.text.trim();
  // A formula without a value may write out its link.
  if (doubt !== undefined) return doubt === "no_value" && isUrl(link) ? { ...own, text: link } : cell;
  if (isUrl(text)) return !isUrl(link) || sameUrl(text, link) ? cell : { ...cell, link };
  const target = isUrl(link) ? link : localPath(link);
  return target === null || photoEnding.test(text) || text.startsWith("img_")
    ? cell
    : { ...cell, text: target };
}

/** The path of a link to a local file with the name of a photo; null for other links. */
function localPath(link: string): string | null {
  const path = decoded(link.replace(/^file:(?:\/\/(?:localhost)?)?/i, ""));
  return photoEnding.test(path) && !/^[a-z][a-z0-9+.-]+:/i.test(path) ? path : null;
}

/** A URL's path as people read it; unchanged where it has a stray %. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Spreadsheets add a slash, escape some characters, and keep what follows # apart. */
const sameUrl = (a: string, b: string): boolean => {
  const parsed = [a, b].map((text) => (URL.canParse(text) ? new URL(text) : null));
  const [first, second] = parsed.map((url) => url && `${url.origin}${url.pathname}${url.search}`);
  return first === second;
};

/** Why a cell of a column of the form cannot be used; null if it can. */
function cellProblem({ text, doubt, link }: Cell, name: string): Omit<CellProblem, "column"> | null {
  if (doubt === "date" && name === "description") return null;
  if (doubt !== undefined) return damagedCell(text, doubt);
  if (link === undefined) return null;
  return {
    code: "link_differs",
    message: `the cell links to ${link}, but its text is another URL: remove the link`,
  };
}

const mergedMessage = ({ firstRow, lastRow, firstColumn, lastColumn }: MergedRange): string =>
  `${columnName(firstColumn)}${firstRow}:${columnName(lastColumn)}${lastRow} are merged: unmerge them, and fill each cell`;
