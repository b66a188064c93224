import type { ProgressEvent } from "../progress-event.ts";
import { counted, shownName } from "../words.ts";
import type { AgreeingRows, MergeableRows } from "./merged-copy.ts";
import { type FileNote, FileNotes } from "./notes.ts";
import { isWithinRows, openRows, type RowFile, unchangedRows } from "./open-rows.ts";
import { type InputProblem, UnreadableInput } from "./problem.ts";
import type { InputRow, MergeFault, RowForm, RowReader, UniqueKey } from "./row-form.ts";
import {
  type FirstUse,
  FirstUses,
  placeOfUse,
  RejectedRows,
  startsWithPlace,
  unknownPlace,
} from "./row-sets.ts";
import { TableReader } from "./table-rows.ts";

export interface CheckResult {
  total: number;
  valid: number;
  invalid: number;
  /**
   * Whether the file itself is invalid, so no row may be sent: by its header, or by an error that ends the
   * reading, with the counts of the rows before it.
   */
  unusable: boolean;
  /** Possible mistakes that are read as they are, by first place; missing without any. */
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
 * The first pass over a file: checks each row by its form, and unique keys across the file; reports every
 * problem and sends nothing. `rejectedRows`: all invalid rows, also those beyond a limit of reported ones.
 */
export async function checkFile(
  file: RowFile,
  host: CheckHost,
): Promise<{ check: CheckResult; rejectedRows: RejectedRows }> {
  const pass = new FilePass(file, await openRows(file), host);
  const { rejectedRows } = pass;
  await pass.readRows();
  await pass.noteAcrossRows();
  await pass.rejectEmpty();
  const mergeable = await pass.mergeableRows();
  const check = pass.result();
  return { check: mergeable === null ? check : { ...check, mergeable }, rejectedRows };
}

class FilePass {
  readonly rejectedRows = new RejectedRows();
  readonly #name: string;
  readonly #seen: FirstUses;
  readonly #notes = new FileNotes();
  readonly #across: ReturnType<NonNullable<RowForm["notesAcrossRows"]>> | undefined;
  #total = 0;
  #invalid = 0;
  #mayRepeat = false;
  #unusable = false;
  #headReported = 0;

  constructor(
    private readonly file: RowFile,
    private readonly reader: RowReader,
    private readonly host: CheckHost,
  ) {
    this.#name = shownName(file.source.name);
    this.#seen = host.firstUses ?? new FirstUses(host.random);
    this.#seen.begin(this.#name, (line) => this.#placeOfReference(line));
    this.#across = file.form.notesAcrossRows?.(host.random);
  }

  async readRows(): Promise<void> {
    const { signal, onProgress = () => {} } = this.host;
    try {
      for await (const rows of this.reader.batches()) {
        signal?.throwIfAborted();
        await this.#reportHead();
        const first = this.#total;
        this.#total += rows.length;
        // Below an invalid header each row would only repeat the header's problem.
        if (this.#unusable) continue;
        await this.#checkRows(rows, first);
        onProgress({ step: "checking the file", done: this.#total, total: null });
      }
      await this.#reportHead();
    } catch (error) {
      if (!(error instanceof UnreadableInput)) throw error;
      await this.#reportHead();
      await this.#rejectFile(error.problem);
    }
  }

  async #checkRows(rows: readonly InputRow[], first: number): Promise<void> {
    const { file, reader, host } = this;
    // Started for all rows of the batch, so that several photos are read at once.
    const judged = rows.map((row, index) => {
      if (first + index === file.limit) file.form.beyondLimit?.();
      return reader.problems(row);
    });
    // A failure is thrown where it is awaited, and not while an earlier row is.
    for (const judgment of judged) if (judgment instanceof Promise) judgment.catch(() => {});
    for (let index = 0; index < rows.length; index++) {
      const judgment = judged[index]!;
      const problems = judgment instanceof Promise ? await judgment : judgment;
      // Photos may take long.
      if (judgment instanceof Promise) host.signal?.throwIfAborted();
      for (const problem of this.#checkRow(rows[index]!, first + index, problems))
        await host.onProblem(problem);
    }
  }

  /** The problems of a row to report: none beyond the limit. It has notes once its photos were read. */
  #checkRow(row: InputRow, rowIndex: number, problems: readonly InputProblem[]): readonly InputProblem[] {
    const { file, reader, rejectedRows } = this;
    const { unique } = file.form;
    const isTaken = isWithinRows(file, rowIndex);
    if (isTaken)
      for (const note of reader.notes(row)) this.#notes.add(note, () => reader.notePlace(row, note));
    // A row that cannot be read would otherwise take a product over once it is corrected.
    const repeated =
      row.content !== null && unique !== undefined ? repetition(row, unique, this.#seen, this.#name) : null;
    if (problems.length === 0 && repeated === null) {
      if (isTaken) this.#across?.add(row, rowIndex);
      return problems;
    }
    rejectedRows.add(rowIndex);
    if (repeated !== null) rejectedRows.addRepeated(rowIndex, repeated.place);
    if (repeated?.ofOther) rejectedRows.repeatingOthers.push(rowIndex);
    if (!isTaken) return [];
    this.#mayRepeat ||= repeated?.ofOther === false;
    this.#invalid++;
    if (repeated === null) return problems;
    const { code = unique!.code, message } = repeated;
    return [...problems, this.#uniqueProblem(row, code, message)];
  }

  async noteAcrossRows(): Promise<void> {
    for (const { at, count, toNote } of (await this.#across?.end()) ?? []) {
      const { reader, row } = await rowAt(this.file, at);
      const note = toNote(row);
      this.#notes.add(note, () => reader.notePlace(row, note), count);
    }
    this.#notes.addHead(this.reader);
  }

  async rejectEmpty(): Promise<void> {
    if (this.#total === 0 && !this.#unusable)
      await this.#rejectFile({ line: 1, code: "empty_file", message: "the file has no rows" });
  }

  /** The rows that could be one product each; null if there are none. */
  async mergeableRows(): Promise<MergeableRows | null> {
    const { file, host } = this;
    if (file.form.merge === undefined || file.merged !== undefined) return null;
    if (this.#unusable || !this.#mayRepeat) return null;
    const { findMergeable, mergedCopy } = await import("./merged-copy.ts");
    const copy = await mergedCopy(file, { random: host.random, signal: host.signal });
    const others = new Set(this.rejectedRows.repeatingOthers);
    return findMergeable(copy, file, {
      repeatsOther: (row) => others.has(row),
      onGroup: (group) => this.#offerMerging(group),
      onFault: (row, fault, first) => this.#noteFault(row, fault, first),
    }).finally(copy.close);
  }

  result(): CheckResult {
    const { file } = this;
    const taken = Math.min(this.#total, file.limit ?? this.#total);
    if (this.#headReported > 0) this.#invalid = taken;
    const [invalid, unusable] = [this.#invalid, this.#unusable];
    const allowance = file.limit === undefined ? {} : { left: this.#total - taken };
    const found = this.#notes.list();
    const noted = found.length === 0 ? {} : { notes: found };
    return { total: taken, valid: taken - invalid, invalid, unusable, ...allowance, ...noted };
  }

  async #reportHead(): Promise<void> {
    const { headProblems } = this.reader;
    while (this.#headReported < headProblems.length)
      await this.#rejectFile(headProblems[this.#headReported++]!);
  }

  async #rejectFile(problem: InputProblem): Promise<void> {
    this.#unusable = true;
    await this.host.onProblem(problem);
  }

  /** Rejects the first row of a product if it is a part of it, and the other rows are skipped. */
  async #offerMerging({ first, indexes, isIncomplete }: AgreeingRows): Promise<void> {
    const { file, rejectedRows, host } = this;
    for (const index of indexes) rejectedRows.mergeable.add(index);
    const rowIndex = indexes[0]!;
    if (!isIncomplete || !host.skipsInvalid || rejectedRows.has(rowIndex) || !isWithinRows(file, rowIndex))
      return;
    const { line, content } = first;
    rejectedRows.add(rowIndex);
    rejectedRows.addRepeated(
      rowIndex,
      placeOfUse({ line, file: this.#name, ...this.#placeOfReference(line) }),
    );
    this.#invalid++;
    const message = `reference "${file.form.readReference(content)}" has ${counted(indexes.length, "row")}, of which this one alone would be a part of the product`;
    await host.onProblem(this.#uniqueProblem(first, file.form.unique!.code, message));
  }

  #noteFault({ line }: InputRow, { param, message }: MergeFault, first: InputRow | undefined): void {
    const { file, reader } = this;
    // References that only look equal have a problem of their own.
    if (param === file.form.unique?.param) return;
    const placeOf = (at: number) => (reader instanceof TableReader ? reader.placeOfField(at, param) : {});
    const place = () => ({ line, ...placeOf(line), param });
    const other = first && placeOfUse({ line: first.line, file: null, ...placeOf(first.line) });
    const code = other === undefined ? "unmergeable_rows" : "contradicting_rows";
    this.#notes.add({ code, value: message + (other ?? "") }, place);
  }

  #uniqueProblem({ line, content }: InputRow, code: string, message: string): InputProblem {
    const { form } = this.file;
    const reference = form.readReference(content);
    return { line, ...this.#placeOfReference(line), reference, param: form.unique!.param, code, message };
  }

  #placeOfReference(line: number): ReturnType<TableReader["placeOfReference"]> | object {
    return this.reader instanceof TableReader ? this.reader.placeOfReference(line) : {};
  }
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

/**
 * The problem of a row that repeats a key, or null. One that a failed file names stays a repetition until its
 * key has changed; the row that it repeats stays valid.
 */
function repetition(
  { content, line, earlierReason }: InputRow,
  unique: UniqueKey,
  seen: FirstUses,
  name: string,
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
