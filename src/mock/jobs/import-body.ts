import { isUtf8 } from "node:buffer";
import { canonicalReference, importRowProblems } from "../../contract/import-row.ts";
import { limits } from "../../contract/limits.ts";
import type { ImportRefusal } from "../../contract/resources/errors.ts";
import { parseJson } from "../../json.ts";
import { byteOrderMark } from "../rules/body.ts";
import { invalid, Rejection } from "../rules/rejection.ts";
import type { AcceptedRow } from "../store/records.ts";

/** A submitted row with its line in the body, from 1; `fault` is set if the line is not JSON. */
interface SubmittedRow {
  readonly line: number;
  readonly value: unknown;
  readonly fault?: string;
}

export interface CheckedRow {
  readonly line: number;
  readonly row: AcceptedRow;
}

type RejectedRow = ImportRefusal["errors"][number];

/** The rows of an NDJSON body, one per line. Blank lines have no row but count as lines. */
export function rowsOfNdjson(body: Buffer): SubmittedRow[] {
  const rows: SubmittedRow[] = [];
  const hasOnlyUtf8 = isUtf8(body);
  let line = 0;
  for (let start = 0; start < body.length; ) {
    const newline = body.indexOf(0x0a, start);
    const end = newline < 0 ? body.length : newline;
    line++;
    // Skips a byte order mark before the first line.
    const from = line === 1 && body.subarray(0, 3).equals(byteOrderMark) ? 3 : start;
    start = end + 1;
    const bytes = body.subarray(from, end);
    if (/^[ \t\r]*$/.test(bytes.toString("latin1"))) continue;
    const isText = hasOnlyUtf8 || isUtf8(bytes);
    rows.push(
      isText ? parseRow(line, bytes.toString()) : { line, value: undefined, fault: "the line is not UTF-8" },
    );
    // One row too many is enough to reject the request.
    if (rows.length > limits.importRows.max) break;
  }
  return rows;
}

function parseRow(line: number, text: string): SubmittedRow {
  try {
    return { line, value: parseJson(text) };
  } catch (error) {
    const fault = `the line is not JSON: ${(error as Error).message.slice(0, 200)}`;
    return { line, value: undefined, fault };
  }
}

/** The rows, or a 400 that lists every problem in the order of the lines (Imports, rule 1). */
export function checkRows(rows: readonly SubmittedRow[]): CheckedRow[] {
  const { min, max } = limits.importRows;
  if (rows.length < min || rows.length > max) {
    const excess = rows.length > max ? `more than ${max}` : "none";
    throw invalid(`an import must have ${min} to ${max} rows; this one has ${excess}`, "rows");
  }
  const errors: RejectedRow[] = [];
  const firstLines = new Map<string, number>();
  for (const { line, value, fault } of rows) {
    if (fault !== undefined) {
      errors.push({ line, code: "invalid_row", message: fault });
      continue;
    }
    for (const { code, message, param } of importRowProblems(value)) {
      errors.push({ line, code, message, ...(param !== undefined && { param }) });
    }
    const twin = earlierLine(value, line, firstLines);
    if (twin !== null) {
      errors.push({
        line,
        code: "duplicate_reference_in_file",
        message: `duplicate reference, first used on line ${twin}`,
        param: "reference",
      });
    }
  }
  if (errors.length > 0) throw new Rejection("invalid_request", "rows are invalid", { list: { errors } });
  return rows.map(({ line, value }) => {
    const row = value as AcceptedRow;
    return { line, row: { ...row, reference: canonicalReference(row.reference) } };
  });
}

/** The earlier line with the same reference, or null. References are trimmed for the comparison. */
function earlierLine(value: unknown, line: number, firstLines: Map<string, number>): number | null {
  const reference = (value as { reference?: unknown } | null)?.reference;
  if (typeof reference !== "string" || reference.trim() === "") return null;
  const kept = canonicalReference(reference);
  const first = firstLines.get(kept);
  if (first === undefined) firstLines.set(kept, line);
  return first ?? null;
}
