import split2 from "split2";
import { DeepJsonError, isObject, parseJson } from "../../json.ts";
import type { FieldNote, FileNote, NotePlace } from "./notes.ts";
import { ObjectFields } from "./object-fields.ts";
import { type InputProblem, UnreadableInput } from "./problem.ts";
import { maxRecordLength, ParseFault, recordBatches } from "./records.ts";
import type { FieldProblem, InputRow, RowForm, RowReader } from "./row-form.ts";
import { failureColumns } from "./row-form.ts";

export class NdjsonReader implements RowReader {
  readonly headProblems: InputProblem[] = [];
  readonly headNotes: readonly Omit<FileNote, "message">[] = [];
  /** The fields of the objects that were read; null where the form takes them as they are. */
  readonly fields: ObjectFields | null;
  #reportedFields = 0;
  readonly #chunks: AsyncIterable<Buffer>;
  readonly #form: RowForm;

  constructor(chunks: AsyncIterable<Buffer>, form: RowForm) {
    this.#chunks = chunks;
    this.#form = form;
    this.fields = form.objects === undefined ? null : new ObjectFields(form.objects);
  }

  async *batches(): AsyncGenerator<InputRow[]> {
    let line = 0;
    let isStart = true;
    try {
      for await (const lines of recordBatches<string>(this.#chunks, split2({ maxLength: maxRecordLength }))) {
        const rows: InputRow[] = [];
        if (isStart) rejectDocument(lines);
        isStart = false;
        for (const text of lines) {
          line++;
          if (text.length > maxRecordLength) throw tooLong(line);
          if (text.trim() !== "") rows.push(this.#readLine(text, line));
        }
        this.#reportFields();
        if (rows.length > 0) yield rows;
      }
    } catch (error) {
      throw error instanceof ParseFault ? tooLong(line + 1) : error;
    }
  }

  #reportFields(): void {
    if (this.fields === null || this.fields.unknown.size === this.#reportedFields) return;
    for (const field of [...this.fields.unknown.values()].slice(this.#reportedFields)) {
      const problem = this.fields.toProblem(field);
      if (problem !== null) this.headProblems.push(problem);
    }
    this.#reportedFields = this.fields.unknown.size;
  }

  problems(row: InputRow): readonly InputProblem[] | Promise<readonly InputProblem[]> {
    if (row.fault !== undefined) return [row.fault];
    const fieldProblems = this.#form.problems(row.content);
    if (fieldProblems instanceof Promise) return fieldProblems.then((problems) => this.judged(row, problems));
    return fieldProblems.length === 0 ? none : this.judged(row, fieldProblems);
  }

  judged({ line, content }: InputRow, problems: readonly FieldProblem[]): readonly InputProblem[] {
    return problems.map(({ cellMessage: _, ...problem }) => {
      return { line, reference: this.#form.readReference(content), ...problem };
    });
  }

  notes({ content }: InputRow): readonly FieldNote[] {
    return this.#form.notes?.(content) ?? noNotes;
  }

  notePlace({ line }: InputRow, { param }: FieldNote): NotePlace {
    return { line, param };
  }

  #readLine(text: string, line: number): InputRow {
    let value: unknown;
    try {
      value = parseJson(text);
    } catch (error) {
      const fault: InputProblem = { line, code: "invalid_json", message: whyInvalid(text, error) };
      return { line, content: null, record: text, fault };
    }
    if (!isObject(value)) return { line, content: value, record: text };
    const { added } = this.#form;
    const own = value as Record<string, unknown>;
    // Photos are added to the row of a reference, so its fields are read first.
    const record = added === undefined ? own : added.object(this.#read(own, line).row);
    const hasReason = failureColumns[0] in record || failureColumns[1] in record;
    const { row, fault } = this.#read(hasReason ? withoutFailure(record) : record, line);
    const read: InputRow = { line, content: this.#form.fromObject(row), record };
    // Nearly every row has none of these, and is not copied for them.
    if (added === undefined && !hasReason && fault === undefined) return read;
    const [code, message] = failureColumns.map((column) => String(record[column]));
    return {
      ...read,
      ...(added !== undefined && { typed: own }),
      ...(hasReason && { earlierReason: { code: code!, message: message! } }),
      ...(fault !== undefined && { fault }),
    };
  }

  #read(object: Record<string, unknown>, line: number): ReturnType<ObjectFields["read"]> {
    return this.fields === null ? { row: object } : this.fields.read(object, line);
  }
}

const none: readonly InputProblem[] = [];
const noNotes: readonly FieldNote[] = [];

/** A record without the columns that a failed file adds; all other fields stay unchanged. */
function withoutFailure(record: Record<string, unknown>): Record<string, unknown> {
  const { [failureColumns[0]]: _code, [failureColumns[1]]: _message, ...others } = record;
  return others;
}

/** Rejects a list, or an object on several lines, whose lines would each be reported. */
function rejectDocument(lines: readonly string[]): void {
  const index = lines.findIndex((text) => text.trim() !== "");
  if (index === -1 || !/^\s*(?:\[\s*(?:[[{]|$)|\{\s*$)/.test(lines[index]!)) return;
  const message =
    "the file is a single JSON document: write one object per line (NDJSON), without brackets or commas between them";
  throw new UnreadableInput({ line: index + 1, code: "wrong_format", message });
}

function whyInvalid(text: string, error: unknown): string {
  if (error instanceof DeepJsonError) return error.message;
  return `not a JSON object${/^\s*\[/.test(text) ? ": write one object per line, not a list" : ""}`;
}

const tooLong = (line: number): UnreadableInput =>
  new UnreadableInput({
    line,
    code: "record_too_long",
    message: `line ${line} is longer than ${maxRecordLength / 1024 / 1024} MiB`,
  });
