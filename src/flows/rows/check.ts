import { rowProblems } from "../import/columns/row-problems.ts";
import type { LocalPhotos } from "../photos/local-photos.ts";
import { referenceOf } from "./input-row.ts";
import { openRows, type ReadOptions } from "./open-rows.ts";
import { type Problem, UnreadableInput } from "./problem.ts";
import { SeenTexts } from "./seen-texts.ts";
import type { Source } from "./source.ts";

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
  /** Where the photos of this machine are looked at. */
  localPhotos: Pick<LocalPhotos, "problems">;
  signal?: AbortSignal | undefined;
  /** Called with every problem, in the order of the file. */
  onProblem: (problem: Problem) => void | Promise<void>;
  /** Called with the place of every row that is refused, from 0. */
  onRefused?: (row: number) => void;
  onProgress: (rows: number) => void;
}

/**
 * The first pass: judges every row by the service's own rules, and references against the whole file after trimming,
 * as the service sees duplicates within one call only (Imports, rule 1), and looks whether the photos of this machine can
 * be uploaded. Every problem is told, nothing is sent.
 */
export async function checkFile(source: Source, options: ReadOptions, deps: CheckDeps): Promise<CheckResult> {
  const reader = await openRows(source, options);
  const references = new SeenTexts(deps.random);
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
      const judged = rows.map((row) => rowProblems(reader, row, deps.localPhotos));
      for (const [index, row] of rows.entries()) {
        const found = judged[index]!;
        const problems = found instanceof Promise ? await found : found;
        const reference = row.fault === undefined ? referenceOf(row.row) : undefined;
        const before = reference === undefined ? null : references.add(reference, row.line);
        if (problems.length === 0 && before === null) continue;
        invalid++;
        deps.onRefused?.(first + index);
        for (const problem of problems) await deps.onProblem(problem);
        if (before !== null) await deps.onProblem(duplicate(row.line, reference!, before));
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
export async function isHopeless(start: Source, options: ReadOptions): Promise<boolean> {
  const reader = await openRows(start, options);
  try {
    for await (const _ of reader.batches()) break;
    return reader.headProblems.length > 0;
  } catch (error) {
    if (error instanceof UnreadableInput) return true;
    throw error;
  }
}

function duplicate(line: number, reference: string, before: number): Problem {
  const message = `"${reference}" stands on line ${before} already: a reference may stand in a file once`;
  return { line, reference, param: "reference", code: "duplicate_reference_in_file", message };
}
