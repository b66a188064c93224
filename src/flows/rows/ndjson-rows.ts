import split2 from "split2";
import { failureColumns } from "./header.ts";
import type { InputRow, RowReader } from "./input-row.ts";
import { type Problem, type ReadingProblem, UnreadableInput } from "./problem.ts";
import { maxRecordLength, ParseFault, recordBatches } from "./records.ts";
import type { FieldProblem, RowForm } from "./row-form.ts";

/** Reads rows of which each is one JSON object on a line. */
export class NdjsonReader implements RowReader {
  readonly headProblems: readonly Problem[] = [];
  readonly #chunks: AsyncIterable<Buffer>;
  readonly #form: RowForm;

  constructor(chunks: AsyncIterable<Buffer>, form: RowForm) {
    this.#chunks = chunks;
    this.#form = form;
  }

  async *batches(): AsyncGenerator<InputRow[]> {
    let line = 0;
    let isStart = true;
    try {
      for await (const lines of recordBatches<string>(cutLines(this.#chunks), split2())) {
        const rows: InputRow[] = [];
        if (isStart) refuseDocument(lines);
        isStart = false;
        for (const text of lines) {
          line++;
          if (text.length > maxRecordLength) rows.push(tooLong(line));
          else if (text.trim() !== "") rows.push(readLine(text, line, this.#form));
        }
        if (rows.length > 0) yield rows;
      }
    } catch (error) {
      throw error instanceof ParseFault ? new UnreadableInput(tooLong(line + 1).fault) : error;
    }
  }

  problems(row: InputRow): readonly Problem[] | Promise<readonly Problem[]> {
    if (row.fault !== undefined) return [row.fault];
    const found = this.#form.problems(row.row);
    const told = ({ param, code, message }: FieldProblem): Problem => {
      return { line: row.line, reference: this.#form.referenceOf(row.row), param, code, message };
    };
    if (found instanceof Promise) return found.then((problems) => problems.map(told));
    return found.length === 0 ? none : found.map(told);
  }
}

const none: readonly Problem[] = [];

/** Refuses a list of rows, or a row over several lines, as one file: each line would have a problem of its own. Looks at the first two lines that are not blank. */
function refuseDocument(lines: readonly string[]): void {
  const [first, second] = lines.map((text) => text.trim()).filter((text) => text !== "");
  if (first === undefined || !isOpened(first, second)) return;
  const message =
    "this is one JSON document: write each row as an object on a line of its own (NDJSON), with no brackets or commas between them";
  const line = lines.findIndex((text) => text.trim() !== "") + 1;
  throw new UnreadableInput({ line, code: "wrong_format", message });
}

/** Whether the first line is the beginning, or the whole, of a list of rows or of an object over several lines. */
function isOpened(first: string, second: string | undefined): boolean {
  if (/^[[{](?:.*[[{])?$/.test(first)) return true;
  if (second !== undefined && isObject(jsonOf(second))) return false;
  const value = jsonOf(first);
  if (value !== undefined) return Array.isArray(value) && isObject(value[0]);
  // An object with a comma behind it is a row that is ill written.
  return first.startsWith("[") || (/^\{.*,$/.test(first) && jsonOf(first.slice(0, -1)) === undefined);
}

const isObject = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The value that a text is in JSON; undefined where it is none. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What is read of a line, in bytes: enough to see that it is too long, as a character takes three at most (an emoji is two). */
const longestLine = 3 * maxRecordLength + 3;

/** The chunks less the rest of each line that is too long, so that it is never held. */
async function* cutLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let line = 0;
  for await (const chunk of chunks) {
    const end = chunk.indexOf(10);
    const rest = end === -1 ? chunk.length : end;
    if (line + rest <= longestLine) {
      yield chunk;
    } else {
      yield chunk.subarray(0, Math.max(0, longestLine - line));
      yield chunk.subarray(rest);
    }
    line = end === -1 ? line + chunk.length : chunk.length - 1 - chunk.lastIndexOf(10);
  }
}

/** A row for a line of which only the number is kept: a failed file has its place, without what stood there. */
function tooLong(line: number): InputRow & { fault: ReadingProblem } {
  const message = `this line (${line}) is longer than ${maxRecordLength / 1024 / 1024} MiB: no row needs as much`;
  return { line, row: null, record: {}, fault: { line, code: "record_too_long", message } };
}

function readLine(text: string, line: number, form: RowForm): InputRow {
  const value = jsonOf(text);
  if (value === undefined) {
    const hint = /^\s*\[/.test(text) ? ": write one object a line, not a list" : "";
    const fault: Problem = { line, code: "invalid_json", message: `this line is not a JSON object${hint}` };
    return { line, row: null, record: text, fault };
  }
  if (!isObject(value)) return { line, row: value, record: text };
  const record = value as Record<string, unknown>;
  // What a failed file adds is not part of the row; everything else goes as it stands.
  if (failureColumns.some((column) => column in record)) {
    const row = { ...record };
    for (const column of failureColumns) delete row[column];
    return { line, row: form.fromObject(row), record };
  }
  return { line, row: form.fromObject(record), record };
}
