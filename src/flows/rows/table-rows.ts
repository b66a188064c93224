// Rows below a header, as CSV files and workbooks have them: a record becomes a row, and its problems name
// the column.

import type { FieldNote, FileNote, NotePlace } from "./notes.ts";
import { isRowAbove, oddLine, spoiledHeader } from "./odd-lines.ts";
import { doubtCodes, type InputProblem, type Place } from "./problem.ts";
import {
  type CellProblem,
  type FieldProblem,
  failureColumns,
  type InputRow,
  normalHeader,
  type RowColumns,
  type RowForm,
  type RowReader,
} from "./row-form.ts";

/** A row of a table; `record` has its cells. */
export type TableRow = InputRow & { record: readonly string[] };

const none: readonly InputProblem[] = [];
const noNotes: readonly FieldNote[] = [];

/** The common parts of readers of CSV files and of workbooks. */
export abstract class TableReader implements RowReader {
  readonly headProblems: InputProblem[] = [];
  readonly headNotes: Omit<FileNote, "message">[] = [];
  /** The header as it is in the file; empty until the first batch. */
  header: readonly string[] = [];
  /** Turns records into rows; based on an empty header until the first batch. */
  columns: RowColumns;
  protected readonly form: RowForm;
  /** The columns of the file itself: the header may have added ones after them. */
  protected width = 0;
  /** The columns of a failed file: `error_code` and `error_message`; -1 without them. */
  #failureCells: readonly [code: number, message: number] = [-1, -1];
  /** Records above the header. */
  readonly #above: { readonly record: readonly string[]; readonly place: Place & { line: number } }[] = [];
  /** The header without the columns of a failed file and those that were added. */
  #ownHeader: readonly string[] = [];

  constructor(form: RowForm) {
    this.form = form;
    this.columns = form.columns([], 1, () => {});
  }

  abstract batches(): AsyncGenerator<TableRow[]>;

  /** Where a cell is, besides its line; -1 for the row as a whole: its first cell with a text. */
  protected place(_line: number, _column: number, _record?: readonly string[]): Place {
    return {};
  }

  problems(row: InputRow): readonly InputProblem[] | Promise<readonly InputProblem[]> {
    // Texts that are not known come first: a failed file keeps the row rejected by their code.
    if (row.fault !== undefined && row.content === null) return [row.fault];
    if (row.fault !== undefined) return [...this.#doubts(row as TableRow), row.fault];
    const fieldProblems = this.form.problems(row.content);
    return fieldProblems instanceof Promise
      ? fieldProblems.then((problems) => this.judged(row as TableRow, problems))
      : this.judged(row as TableRow, fieldProblems);
  }

  notes({ content }: InputRow): readonly FieldNote[] {
    return this.form.notes?.(content) ?? noNotes;
  }

  notePlace({ line, record }: InputRow, { param: path, column: known }: FieldNote): NotePlace {
    const cells = record as readonly string[];
    const column = known ?? (path === undefined ? null : this.columns.columnOfPath(path, cells));
    if (column === null || column < 0)
      return { line, ...this.place(line, this.columns.names.indexOf(path ?? ""), cells), param: path };
    return { line, ...this.place(line, column), param: this.header[column]!.trim() };
  }

  placeOfReference(line: number): Place {
    return this.place(line, this.columns.referenceColumn);
  }

  /** The column that has a part of the row, as users see it; the part itself where it has none. */
  columnTitle(path: string, { record }: InputRow): string {
    const { columns } = this;
    const column = columns.columnOfPath(path, record as readonly string[]) ?? columns.names.indexOf(path);
    return this.header[column]?.trim() ?? path;
  }

  /** A problem by its field that was found after the check, with its column and its cell. */
  located(problem: InputProblem): InputProblem {
    const { line, param: field, message } = problem;
    const place = this.placeOfField(line, field);
    const column = this.columns.names.indexOf(field ?? "");
    if (column === -1) return { ...problem, ...place };
    const param = this.header[column]!.trim();
    return { ...problem, ...place, param, message: message.replace(field!, param) };
  }

  /** Where the cell of a field is, or that with the reference if no column has the field. */
  placeOfField(line: number, field: string | undefined): Place {
    const column = this.columns.names.indexOf(field ?? "");
    return this.place(line, column === -1 ? this.columns.referenceColumn : column);
  }

  #doubts(row: TableRow): InputProblem[] {
    return this.judged(row, []).filter(({ code }) => doubtCodes.has(code));
  }

  /** Problems that the reader knows of the cells; they replace others of the same column. */
  protected cellProblems(row: TableRow): readonly CellProblem[] {
    return this.columns.cellProblems(row.record);
  }

  judged(row: TableRow, problems: readonly FieldProblem[]): readonly InputProblem[] {
    const ofCells = this.cellProblems(row);
    const code = row.earlierReason?.code.split(" ").find((code) => doubtCodes.has(code));
    if (problems.length === 0 && ofCells.length === 0 && code === undefined) return none;
    const { line } = row;
    const reference = this.form.readReference(row.content);
    if (code !== undefined) {
      const message = `${code} of an earlier file: correct the cell, and empty its error_code`;
      return [
        { line, ...this.place(line, this.#failureCells[0]), reference, param: "error_code", code, message },
      ];
    }
    const reported = ofCells.map(({ column, code, message }) => {
      const param = this.header[column]!.trim();
      return { line, ...this.place(line, column), reference, param, code, message };
    });
    const params = new Set(reported.map(({ param }) => param));
    // A field whose cell cannot be read is not missing.
    for (const { column } of ofCells) params.add(toFieldName(this.columns.names[column] ?? ""));
    const others = problems
      .map((problem) => this.#inColumns(row, problem))
      .filter(({ param }) => param === undefined || !params.has(param));
    return [...others, ...reported];
  }

  protected readHeader(own: readonly string[], line: number): void {
    const { added } = this.form;
    const record =
      added === undefined ? own : [...own, ...added.headers(this.form.columns(own, line, () => {}).names)];
    this.width = own.length;
    this.header = record;
    this.columns = this.form.columns(record, line, (problem) => {
      const column = record.findIndex((header) => header.trim() === problem.param);
      this.headProblems.push({ ...problem, ...this.place(line, column) });
    });
    const { names } = this.columns;
    const findColumn = (name: string) =>
      record.findIndex((header, index) => names[index] === null && normalHeader(header) === name);
    this.#failureCells = [findColumn(failureColumns[0]), findColumn(failureColumns[1])];
    this.#ownHeader = this.#withoutReason(own);
    const row = this.#above.find((above) => isRowAbove(above.record, own, this.columns.referenceColumn));
    if (row !== undefined)
      this.headProblems.unshift({ ...row.place, code: "wrong_format", message: rowAbove });
    const place = this.place(line, 0);
    const message = spoiledHeader(own, this.form, place.sheet !== undefined);
    if (message !== null) this.rejectHeader({ line, ...place, code: "wrong_format", message });
  }

  /** Reports one problem of the header, of which all others are a consequence. */
  protected rejectHeader(problem: InputProblem): void {
    this.headProblems.splice(0, Number.POSITIVE_INFINITY, problem);
  }

  /** Notes the records above the header, which are not read; `first`: the cells of the first one. */
  protected noteAbove(count: number, line: number, first: readonly string[]): void {
    const value = first.find((cell) => cell.trim() !== "")?.trim() ?? "";
    this.headNotes.push({
      code: "lines_above_header",
      line,
      ...this.place(line, -1, first),
      count,
      value,
    });
  }

  /** Keeps a record above the header, which may be a row. */
  protected addAbove(line: number, record: readonly string[]): void {
    this.#above.push({ record, place: { line, ...this.place(line, -1, record) } });
  }

  /** The invalid row of a record that is not one, such as a total; null for a row. */
  protected oddRow(own: readonly string[], line: number): TableRow | null {
    const message = oddLine(this.#withoutReason(own), this.#ownHeader);
    if (message === null) return null;
    const fault = { line, ...this.place(line, -1, own), code: "not_a_row", message };
    // As long as the header, so that a failed file has the reason in its column.
    const rest = Array<string>(Math.max(0, this.header.length - own.length)).fill("");
    return { line, record: [...own, ...rest], content: null, fault };
  }

  /** The cells without those of a failed file. */
  #withoutReason(own: readonly string[]): readonly string[] {
    return this.#failureCells[0] === -1 ? own : own.filter((_, at) => !this.#failureCells.includes(at));
  }

  /** A record with empty cells instead of the added ones. */
  protected padded(own: readonly string[]): readonly string[] {
    const count = this.header.length - this.width;
    return count === 0 ? own : [...own, ...Array<string>(count).fill("")];
  }

  /** The row of a record that has as many cells as the file has columns. */
  protected completeRow(own: readonly string[], line: number): TableRow {
    const odd = this.oddRow(own, line);
    if (odd !== null) return odd;
    const padded = this.padded(own);
    const ownContent = this.columns.toRow(padded);
    const record = padded === own ? own : [...own, ...this.form.added!.cells(ownContent)];
    const content = padded === own ? ownContent : this.columns.toRow(record);
    const typed = padded === own ? undefined : padded;
    const stray = this.columns.strayCell(record);
    if (stray === null) return { line, record, content, typed, ...this.earlierReason(record) };
    const { column, message } = stray;
    const param = this.header[column]!.trim() || undefined;
    const reference = this.form.readReference(content);
    const fault = { line, ...this.place(line, column), reference, param, code: "invalid_row", message };
    return { line, record, content, typed, fault };
  }

  /** The reason of a row of a failed file; a mapped column is none of its columns. */
  protected earlierReason(record: readonly string[]): Pick<TableRow, "earlierReason"> {
    const [code, message] = this.#failureCells;
    const text = record[code]?.trim() ?? "";
    return text === "" ? {} : { earlierReason: { code: text, message: record[message]?.trim() ?? "" } };
  }

  /** Converts a problem with a path of the row into one with the column that the user sees. */
  #inColumns({ line, content, record }: TableRow, { cellMessage, ...problem }: FieldProblem): InputProblem {
    const reference = this.form.readReference(content);
    const { param: path, message } = problem;
    const column = path === undefined ? null : this.columns.columnOfPath(path, record);
    if (column === null)
      return {
        line,
        ...this.place(line, this.columns.names.indexOf(path ?? ""), record),
        reference,
        ...problem,
      };
    const param = this.header[column]!.trim();
    const said = cellMessage ?? message.replace(path!, param);
    return { line, ...this.place(line, column), reference, ...problem, param, message: said };
  }
}

/** A sheet was sorted with its header. */
const rowAbove = "this row is above the header: move the header to the first line";

/** The field that a column belongs to: each column of a photo is a part of `images`. */
const toFieldName = (name: string): string => (name.startsWith("image") ? "images" : name);

export const isBlank = (record: readonly string[]): boolean => record.every((cell) => cell.trim() === "");
