import split2 from "split2";
import { failureColumns } from "./header.ts";
import type { InputRow, RowReader } from "./input-row.ts";
import { type Problem, type ReadingProblem, UnreadableInput } from "./problem.ts";
import { maxRecordLength, ParseFault, recordBatches } from "./records.ts";
import type { FieldProblem, RowForm } from "./row-form.ts";

/** Reads rows that are one JSON object per line. */
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
        if (isStart) rejectDocument(lines);
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
    const found = this.#form.problems(row.content);
    const reported = ({ param, code, message }: FieldProblem): Problem => {
      return { line: row.line, reference: this.#form.referenceOf(row.content), param, code, message };
    };
    if (found instanceof Promise) return found.then((problems) => problems.map(reported));
    return found.length === 0 ? none : found.map(reported);
  }
}

const none: readonly Problem[] = [];

/**
 * Rejects a single JSON document, whose lines would each be reported. Checks the first two lines that are not
 * blank.
 */
function rejectDocument(lines: readonly string[]): void {
  const [first, second] = lines.map((text) => text.trim()).filter((text) => text !== "");
  if (first === undefined || !isOpened(first, second)) return;
  const message =
    "the file is a single JSON document: write one object per line (NDJSON), without brackets or commas between them";
  const line = lines.findIndex((text) => text.trim() !== "") + 1;
  throw new UnreadableInput({ line, code: "wrong_format", message });
}

/** Whether the first line starts, or is, a list of rows or an object that spans several lines. */
function isOpened(first: string, second: string | undefined): boolean {
  if (/^[[{](?:.*[[{])?$/.test(first)) return true;
  if (second !== undefined && isObject(jsonOf(second))) return false;
  const value = jsonOf(first);
  if (value !== undefined) return Array.isArray(value) && isObject(value[0]);
  // An object followed by a comma is an invalid row.
  return first.startsWith("[") || (/^\{.*,$/.test(first) && jsonOf(first.slice(0, -1)) === undefined);
}

const isObject = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The JSON value of a text; undefined if it is not JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Bytes read of a line: enough to see that it is too long, at three bytes per character at most. */
const longestLine = 3 * maxRecordLength + 3;

/** The chunks without the rest of each line that is too long, which is never kept. */
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

/** A row for a line that was not kept: it has its place in a failed file, without the text. */
function tooLong(line: number): InputRow & { fault: ReadingProblem } {
  const message = `line ${line} is longer than ${maxRecordLength / 1024 / 1024} MiB`;
  return { line, content: null, record: {}, fault: { line, code: "record_too_long", message } };
}

function readLine(text: string, line: number, form: RowForm): InputRow {
  const value = jsonOf(text);
  if (value === undefined) {
    const hint = /^\s*\[/.test(text) ? ": write one object per line, not a list" : "";
    const fault: Problem = { line, code: "invalid_json", message: `not a JSON object${hint}` };
    return { line, content: null, record: text, fault };
  }
  if (!isObject(value)) return { line, content: value, record: text };
  const record = value as Record<string, unknown>;
  // The columns added by a failed file are removed; all other fields stay unchanged.
  if (failureColumns.some((column) => column in record)) {
    const row = { ...record };
    for (const column of failureColumns) delete row[column];
    const [code, message] = failureColumns.map((column) => record[column]);
    const earlierReason = { code: String(code), message: String(message) };
    return { line, content: form.fromObject(row), record, earlierReason };
  }
  return { line, content: form.fromObject(record), record };
}
