import type { ProgressEvent } from "../progress-event.ts";
import { counted, shownName } from "../words.ts";
import { isDoubtfulReference } from "./damage.ts";
import type { IncompleteRow, MergeableRows } from "./merged-copy.ts";
import { type FieldNote, type FileNote, FileNotes } from "./notes.ts";
import { isWithinRows, openRows, type RowFile, unchangedRows } from "./open-rows.ts";
import { type InputProblem, UnreadableInput } from "./problem.ts";
import type { InputRow, MergeFault, RowReader, UniqueKey } from "./row-form.ts";
import {
  type FirstUse,
  FirstUses,
  placeOfUse,
  RejectedRows,
  startsWithPlace,
  unknownPlace,
} from "./row-sets.ts";
import { TableReader } from "./table-rows.ts";

/** The result of checking the entire file. */
export interface CheckResult {
  total: number;
  valid: number;
  invalid: number;
  /**
   * Whether the file itself is invalid, so no row of it may be sent: an invalid header makes every row
   * invalid; an error that ends the reading keeps the counts of the rows before it.
   */
  unusable: boolean;
  /** What may be a mistake and is read as it is, by its first place; missing if there is nothing. */
  notes?: readonly FileNote[];
  /** Rows beyond the limit, which count nowhere else; only with a limit. */
  left?: number;
  /** Rows with repeated references that could be one product each; only if there are any. */
  mergeable?: MergeableRows;
}

/** Whether nothing is sent, because of what the check found. */
export const isRejected = (
  { unusable, valid, invalid }: CheckResult,
  { skipInvalid }: { readonly skipInvalid: boolean },
): boolean => unusable || valid === 0 || (invalid > 0 && !skipInvalid);

/** The rows of several files by the result of the check. */
export const checkCounts = (
  checks: readonly CheckResult[],
): Pick<CheckResult, "total" | "valid" | "invalid"> => {
  const sum = (name: "total" | "valid" | "invalid") =>
    checks.reduce((sum, { [name]: rows }) => sum + rows, 0);
  return { total: sum("total"), valid: sum("valid"), invalid: sum("invalid") };
};

export interface CheckHost {
  random: () => number;
  /** Shared by files in which a key may be used only once. */
  firstUses?: FirstUses | undefined;
  /** Whether other rows are sent without the invalid ones: then a part of a product is invalid too. */
  skipsInvalid?: boolean | undefined;
  signal?: AbortSignal | undefined;
  /** Called with every problem, in the order of the file. */
  onProblem: (problem: InputProblem) => void | Promise<void>;
  onProgress?: (event: ProgressEvent) => void;
}

/**
 * The first pass over a file: checks each row by its form, and unique keys across the entire file. Reports
 * every problem and sends nothing. `refused` are the invalid rows, including those beyond a limit, whose
 * problems are not reported.
 */
export async function checkFile(
  file: RowFile,
  {
    random,
    firstUses: seen = new FirstUses(random),
    skipsInvalid = false,
    signal,
    onProblem,
    onProgress = () => {},
  }: CheckHost,
): Promise<{ check: CheckResult; refused: RejectedRows }> {
  const reader = await openRows(file);
  const { unique } = file.form;
  const refused = new RejectedRows();
  const name = shownName(file.source.name);
  seen.begin(name, (line) => (reader instanceof TableReader ? reader.placeOfReference(line) : {}));
  let total = 0;
  let invalid = 0;
  let mayRepeat = false;
  let unusable = false;
  const fileProblem = async (problem: InputProblem) => {
    unusable = true;
    await onProblem(problem);
  };
  const notes = new FileNotes();
  const across = file.form.notesAcrossRows?.(random);
  let headReported = 0;
  const reportHead = async () => {
    while (headReported < reader.headProblems.length) await fileProblem(reader.headProblems[headReported++]!);
  };
  try {
    for await (const rows of reader.batches()) {
      signal?.throwIfAborted();
      await reportHead();
      const first = total;
      total += rows.length;
      // Below an invalid header each row would only repeat the header's problem.
      if (unusable) continue;
      // Started for all rows of the batch, so that several photos are read at once.
      const judged = rows.map((row, index) => {
        if (first + index === file.limit) file.form.beyondLimit?.();
        return reader.problems(row);
      });
      // A failure is thrown where it is awaited, and not while an earlier row is.
      for (const judgment of judged) if (judgment instanceof Promise) judgment.catch(() => {});
      for (let index = 0; index < rows.length; index++) {
        const row = rows[index]!;
        const judgment = judged[index]!;
        const problems = judgment instanceof Promise ? await judgment : judgment;
        // Photos may take long.
        if (judgment instanceof Promise) signal?.throwIfAborted();
        const isTaken = isWithinRows(file, first + index);
        // Those about photos are known once these were read.
        const found = isTaken ? reader.notes(row) : none;
        if (found.length > 0)
          for (const note of found) notes.add(note.code, note.value, () => reader.notePlace(row, note));
        // A row that cannot be read would otherwise take a product over once it is corrected.
        const repeated =
          row.content !== null && unique !== undefined ? repetition(row, { unique, seen, name }) : null;
        if (problems.length === 0 && repeated === null) {
          if (isTaken) across?.add(row, first + index);
          continue;
        }
        refused.add(first + index);
        if (repeated !== null) refused.addRepeated(first + index, repeated.place);
        if (repeated?.ofOther) refused.repeatingOthers.push(first + index);
        if (!isTaken) continue;
        mayRepeat ||= repeated?.ofOther === false;
        invalid++;
        for (const problem of problems) await onProblem(problem);
        if (repeated !== null)
          await onProblem({
            line: row.line,
            ...(reader instanceof TableReader && reader.placeOfReference(row.line)),
            reference: file.form.readReference(row.content),
            param: unique!.param,
            code: repeated.code ?? unique!.code,
            message: repeated.message,
          });
      }
      onProgress({ step: "checking the file", done: total, total: null });
    }
    await reportHead();
  } catch (error) {
    if (!(error instanceof UnreadableInput)) throw error;
    await reportHead();
    await fileProblem(error.problem);
  }
  for (const { at, count, toNote } of (await across?.end()) ?? []) {
    const { reader, row } = await rowAt(file, at);
    const note = toNote(row);
    notes.add(note.code, note.value, () => reader.notePlace(row, note), count);
  }
  notes.addHead(reader);
  if (total === 0 && !unusable) {
    await fileProblem({ line: 1, code: "empty_file", message: "the file has no rows" });
  }
  const noteContradiction = ({ line, content }: InputRow, fault: MergeFault, first: InputRow) => {
    const { param, message } = fault;
    // References that only look equal, or may be damaged, have a problem or a note of their own.
    if (param === unique?.param || isDoubtfulReference(file.form.readReference(content) ?? "")) return;
    const placeOf = (at: number) => (reader instanceof TableReader ? reader.placeOfField(at, param) : {});
    const other = placeOfUse({ line: first.line, file: null, ...placeOf(first.line) });
    notes.add("contradicting_rows", message + other, () => ({ line, ...placeOf(line), param }));
  };
  const mayMerge = mayRepeat && file.merged === undefined;
  const mergeable =
    unusable || !mayMerge
      ? null
      : await mergeableRows(file, { random, signal }, noteContradiction, async ({ row, rowIndex, rows }) => {
          if (!skipsInvalid || refused.has(rowIndex) || !isWithinRows(file, rowIndex)) return;
          const { line, content } = row;
          const place = reader instanceof TableReader ? reader.placeOfReference(line) : {};
          refused.add(rowIndex);
          refused.addRepeated(rowIndex, placeOfUse({ line, file: name, ...place }));
          invalid++;
          const reference = file.form.readReference(content);
          const { param, code } = unique!;
          const message = `reference "${reference}" has ${counted(rows, "row")}, of which this one alone would be a part of the product`;
          await onProblem({ line, ...place, reference, param, code, message });
        });
  const taken = Math.min(total, file.limit ?? total);
  if (headReported > 0) invalid = taken;
  const allowance = file.limit === undefined ? {} : { left: total - taken };
  const found = notes.list();
  const noted = found.length === 0 ? {} : { notes: found };
  const check = { total: taken, valid: taken - invalid, invalid, unusable, ...allowance, ...noted };
  return { check: mergeable === null ? check : { ...check, mergeable }, refused };
}

/** A row of the file by its index, which is read again up to there. */
async function rowAt(file: RowFile, index: number): Promise<{ reader: RowReader; row: InputRow }> {
  const reader = await openRows(file);
  let first = 0;
  for await (const rows of unchangedRows(file.source, reader)) {
    const row = rows[index - first];
    if (row !== undefined) return { reader, row };
    first += rows.length;
  }
  throw file.source.changed();
}

/** The rows that could be one product each; the callbacks: see `findMergeable`. */
async function mergeableRows(
  file: RowFile,
  deps: Pick<CheckHost, "random" | "signal">,
  onContradiction: (row: InputRow, fault: MergeFault, first: InputRow) => void,
  onIncomplete: (row: IncompleteRow) => Promise<void>,
): Promise<MergeableRows | null> {
  if (file.form.merge === undefined) return null;
  const { findMergeable, mergedCopy } = await import("./merged-copy.ts");
  const copy = await mergedCopy(file, deps);
  return findMergeable(copy, file, onIncomplete, onContradiction).finally(copy.close);
}

/**
 * The problem of a row that repeats a key, or null. A row that a failed file names as a repetition stays one
 * until its key has changed; it does not make the row that it repeats invalid.
 */
function repetition(
  { content, line, earlierReason }: InputRow,
  { unique, seen, name }: { unique: UniqueKey; seen: FirstUses; name: string },
): Repetition | null {
  const keys = unique.toKey(content);
  if (keys === undefined) return null;
  // A row may have the code of a text that is not known as well.
  if (earlierReason?.code.split(" ").includes(unique.code)) {
    const reasons = [null, ...[keys].flat()].map((key) => unique.reason(key));
    const known = reasons.find((reason) => earlierReason.message.startsWith(reason));
    // Without a key in the message it is not known which one was rejected.
    const still = known ?? (unique.namesKey(earlierReason.message) ? undefined : reasons.at(-1));
    if (still !== undefined) {
      const [place] = startsWithPlace.exec(earlierReason.message.slice(still.length)) ?? [];
      const where = place ?? `${unknownPlace} of an earlier file`;
      const message = `${still}${where}: change the row, or empty its error_code`;
      return { message, ofOther: false, place };
    }
  }
  // A million rows have one key each.
  if (typeof keys === "string") {
    const text = unique.toText?.(content) ?? keys;
    const before = seen.add(keys, line, text);
    if (before === null || unique.mayRepeat?.(content, text, before) === true) return null;
    return {
      ...toRepetition(unique.message(text, before), before, name),
      code: unique.codeOf?.(text, before),
    };
  }
  let firstRepetition: Repetition | null = null;
  for (const key of keys) {
    const before = seen.add(key, line);
    if (before !== null) firstRepetition ??= toRepetition(unique.message(key, before), before, name);
  }
  return firstRepetition;
}

const none: readonly FieldNote[] = [];

/** A row that repeats a key, which another file may have. */
interface Repetition {
  readonly message: string;
  /** Instead of that of the key. */
  readonly code?: string | undefined;
  readonly ofOther: boolean;
  /** Where the key was used before, as a failed file has it. */
  readonly place: string | undefined;
}

const toRepetition = (message: string, first: FirstUse, name: string): Repetition => ({
  message,
  ofOther: first.file !== null,
  place: placeOfUse({ ...first, file: first.file ?? name }),
});
