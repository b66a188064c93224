import type { ReviewDecision } from "../../../state/decisions.ts";
import { parseTime } from "../../../text.ts";
import { unguardedCell } from "../../outputs/formulas.ts";
import { encodingAdvice } from "../../rows/encoding.ts";
import { type FileNote, FileNotes } from "../../rows/notes.ts";
import { openRows, type ReadOptions } from "../../rows/open-rows.ts";
import {
  type FoundEncodings,
  type InputProblem,
  missingColumn,
  UnreadableInput,
} from "../../rows/problem.ts";
import type { RowColumns, RowForm } from "../../rows/row-form.ts";
import { normalHeader } from "../../rows/row-form.ts";
import { placeOfUse } from "../../rows/row-sets.ts";
import { InputError, type Source } from "../../rows/source.ts";
import { TableReader } from "../../rows/table-rows.ts";
import { shownName } from "../../words.ts";
import { describingColumns } from "../result.ts";

export const decisionColumns = [...describingColumns, "decision", "note"] as const;

/** When a decision was made (RFC 3339), which a file may have: without it, the time of the file counts. */
const timeColumn = "decided_at";
/** Who has decided: files that come from a mirror say it. */
const reviewerColumn = "reviewer";
const timeOf = (text: string): number => parseTime(text.replace(" ", "T"));
/** The column of saved images, which only lists of results have. */
const fileColumn = "file";

type DecisionColumn = (typeof decisionColumns)[number];

/** One row of a review: cells by column, "" where one is empty. */
export interface DecisionRow extends Readonly<Record<DecisionColumn, string>> {
  readonly fileLine: number;
  /** When it was made, in Unix milliseconds; null for a list without times, which repeats earlier ones. */
  readonly decidedAt: number | null;
  /** Who has decided; "" where the file does not say it. */
  readonly reviewer: string;
}

const decisions: ReadonlySet<string> = new Set(["approve", "reject", ""]);

export interface ReadDecisions {
  readonly decisions: DecisionRow[];
  readonly problems: InputProblem[];
  readonly notes: readonly FileNote[];
  /** Whether it has decisions of several reviewers, as a mirror keeps them, of no single run. */
  readonly isGathered: boolean;
  /** A problem with its cell, in a workbook. */
  readonly located: (problem: InputProblem) => InputProblem;
}

/**
 * The rows of a review, and what is wrong with some of them. Rows without a task are left out: they have no
 * image. `read`: null where no flag can say how to read it. Throws an InputError where the file is not one of
 * decisions.
 */
export async function readDecisions(source: Source, read: ReadOptions | null): Promise<ReadDecisions> {
  const name = shownName(source.name);
  const reader = await openRows({ source, read: read ?? {}, form: decisionForm });
  if (!(reader instanceof TableReader)) throw notDecisions(name, "it is neither CSV nor a workbook");
  const decisions: DecisionRow[] = [];
  const problems: InputProblem[] = [];
  const linesByTask = new Map<string, number>();
  const toPlace = (line: number) => placeOfUse({ line, file: null, ...reader.placeOfField(line, "task_id") });
  const add = (cells: Readonly<Record<string, string>>, line: number): void => {
    // The page and the lists of results guard each cell.
    const unguarded = Object.entries(cells).map(([name, text]) => [name, unguardedCell(text)]);
    const row = Object.fromEntries(unguarded) as Record<
      DecisionColumn | typeof timeColumn | typeof reviewerColumn,
      string
    >;
    const isResult = reader.columns.names.includes(fileColumn);
    const decision = row.decision.toLowerCase();
    const decidedAt = row[timeColumn] !== "" ? timeOf(row[timeColumn]) : isResult ? 0 : null;
    const before = linesByTask.get(row.task_id);
    const problem = decisionProblem(row, before === undefined ? null : toPlace(before));
    if (problem !== null) problems.push({ line, ...problem });
    if (row.task_id === "") return;
    linesByTask.set(row.task_id, linesByTask.get(row.task_id) ?? line);
    decisions.push({ ...row, decision, fileLine: line, decidedAt });
  };
  const rejectOtherColumns = (): void => {
    const missing = reader.headProblems.find(({ code }) => code === "missing_column");
    if (missing !== undefined) throw notDecisions(name, `it has no column "${missing.param}"`);
  };
  try {
    for await (const rows of reader.batches()) {
      rejectOtherColumns();
      for (const { line, content, fault } of rows) {
        if (fault !== undefined) problems.push(fault);
        else add(content as Record<string, string>, line);
      }
    }
  } catch (error) {
    if (!(error instanceof UnreadableInput)) throw error;
    if (error.encodings !== undefined) throw notUtf8(name, read === null ? null : error.encodings);
    throw notDecisions(name, error.problem.message);
  }
  if (reader.header.length === 0) throw notDecisions(name, "it is empty");
  rejectOtherColumns();
  const located = (problem: InputProblem) => ({
    ...problem,
    ...reader.placeOfField(problem.line, problem.param),
  });
  const { names } = reader.columns;
  const isGathered = names.includes(reviewerColumn) && !names.includes("line");
  const notes = new FileNotes();
  notes.addHead(reader);
  return { decisions, problems, notes: notes.list(), isGathered, located };
}

/** The decisions of decided rows. One without a time, or a future one, was made when the file was saved. */
export const toDecisions = (
  rows: readonly DecisionRow[],
  { savedAt, now }: { savedAt: number; now: number },
): ReviewDecision[] =>
  rows.flatMap(({ task_id: task, decision, note, decidedAt, reviewer }) => {
    if (decision !== "approve" && decision !== "reject") return [];
    const isKnown = decidedAt !== null && decidedAt <= now;
    return [{ task, decision, note, at: isKnown ? decidedAt : Math.min(savedAt, now), reviewer }];
  });

/** The problem of a row by itself; `before` is the place of an earlier one about the same task. */
function decisionProblem(
  { decision, task_id, decided_at }: Readonly<Record<DecisionColumn | typeof timeColumn, string>>,
  before: string | null,
): Pick<InputProblem, "param" | "code" | "message"> | null {
  const param = "decision";
  if (!decisions.has(decision.toLowerCase()))
    return {
      param,
      code: "invalid_decision",
      message: `${JSON.stringify(decision)} is not approve or reject`,
    };
  if (task_id === "" && decision !== "")
    return { param, code: "no_task", message: "the row has a decision, but no task_id" };
  if (decided_at !== "" && !(timeOf(decided_at) >= 0)) {
    const message = `${JSON.stringify(decided_at)} is not a time like 2026-01-05T09:00:00Z`;
    return { param: timeColumn, code: "invalid_time", message };
  }
  if (before === null) return null;
  return { param: "task_id", code: "duplicate_decision", message: `duplicate task, first decided${before}` };
}

const notDecisions = (name: string, why: string): InputError =>
  new InputError(
    `${name} is not a file of decisions: ${why}`,
    "invalid_decisions",
    "Use the CSV file that the gallery saves, with approve or reject in the column decision.",
  );

/** `encodings`: null where no flag names one. */
const notUtf8 = (name: string, encodings: FoundEncodings | null): InputError => {
  const asUtf8 = "save it as UTF-8 (in Excel: CSV UTF-8)";
  const advice = encodings === null ? asUtf8 : encodingAdvice(encodings);
  return new InputError(
    `cannot read ${name}: it is not UTF-8`,
    "invalid_decisions",
    `${advice[0]!.toUpperCase()}${advice.slice(1)}.`,
  );
};

/** The columns of a file of decisions, as the page saves them. */
export const decisionFileColumns = [...decisionColumns, timeColumn] as const;

const readColumns = [...decisionFileColumns, reviewerColumn] as const;

/** Rows of any columns; those of decisions are read by name. */
const isDecisionColumn = (header: string): boolean =>
  (readColumns as readonly string[]).includes(normalHeader(header));

export const decisionForm: RowForm = {
  isColumn: isDecisionColumn,
  columns(header, line, report) {
    const cells = decisionCells(header);
    for (const column of ["task_id", "decision"])
      if (header.length > 0 && !cells.names.includes(column)) report(missingColumn(line, column));
    return cells;
  },
  fromObject: (object) => object,
  problems: () => [],
  readReference: () => undefined,
  withoutDone: (object) => object,
};

const decisionCells = (header: readonly string[]): RowColumns => {
  const names = header.map(normalHeader);
  return {
    names,
    referenceColumn: -1,
    toRow: (record) =>
      Object.fromEntries(readColumns.map((column) => [column, record[names.indexOf(column)]?.trim() ?? ""])),
    strayCell: () => null,
    cellProblems: () => [],
    columnOfPath: () => null,
    withoutDone: (record) => record,
  };
};
