import { openRows, type RowFile } from "./open-rows.ts";
import { type Problem, UnreadableInput } from "./problem.ts";
import { SeenTexts } from "./seen-texts.ts";

/** What the whole-file check found. */
export interface CheckResult {
  total: number;
  valid: number;
  invalid: number;
  /**
   * Whether the file as such is at fault, so that no row of it may be sent: its header, which makes every row invalid, or
   * what ends the reading, before which rows are counted as they are.
   */
  unusable: boolean;
}

export interface CheckDeps {
  random: () => number;
  signal?: AbortSignal | undefined;
  /** Called with every problem, in the order of the file. */
  onProblem: (problem: Problem) => void | Promise<void>;
  /** Called with the place of every row that is refused, from 0. */
  onRefused?: (row: number) => void;
  onProgress: (rows: number) => void;
}

/**
 * The first pass over a file: judges every row by its form, and what must be unique against the whole file. Every problem is
 * reported, nothing is sent.
 */
export async function checkFile(file: RowFile, deps: CheckDeps): Promise<CheckResult> {
  const reader = await openRows(file);
  const { unique } = file.form;
  const seen = new SeenTexts(deps.random);
  let total = 0;
  let invalid = 0;
  let unusable = false;
  const fileProblem = async (problem: Problem) => {
    unusable = true;
    await deps.onProblem(problem);
  };
  let headTold = 0;
  const tellHead = async () => {
    while (headTold < reader.headProblems.length) await fileProblem(reader.headProblems[headTold++]!);
  };
  try {
    for await (const rows of reader.batches()) {
      deps.signal?.throwIfAborted();
      await tellHead();
      const first = total;
      total += rows.length;
      // With a header that is doubtful the rows below it would each repeat its fault.
      if (unusable) continue;
      // Begun for the whole batch, so that several files are looked at at once.
      const judged = rows.map((row) => reader.problems(row));
      for (const [index, row] of rows.entries()) {
        const found = judged[index]!;
        const problems = found instanceof Promise ? await found : found;
        const key = row.fault === undefined ? unique?.keyOf(row.row) : undefined;
        const before = key === undefined ? null : seen.add(key, row.line);
        if (problems.length === 0 && before === null) continue;
        invalid++;
        deps.onRefused?.(first + index);
        for (const problem of problems) await deps.onProblem(problem);
        if (before !== null)
          await deps.onProblem({
            ...{
              line: row.line,
              reference: file.form.referenceOf(row.row),
              param: unique!.param,
              code: unique!.code,
            },
            message: unique!.message(key!, before),
          });
      }
      deps.onProgress(total);
    }
    await tellHead();
  } catch (error) {
    if (!(error instanceof UnreadableInput)) throw error;
    await tellHead();
    await fileProblem(error.problem);
  }
  if (total === 0 && !unusable) {
    await fileProblem({ line: 1, code: "empty_file", message: "there are no rows in this file" });
  }
  if (headTold > 0) invalid = total;
  return { total, valid: total - invalid, invalid, unusable };
}

/** Whether a file of which the start is there is at fault as such (`unusable`), whatever follows. */
export async function isHopeless(start: RowFile): Promise<boolean> {
  const reader = await openRows(start);
  try {
    for await (const _ of reader.batches()) break;
    return reader.headProblems.length > 0;
  } catch (error) {
    if (error instanceof UnreadableInput) return true;
    throw error;
  }
}
