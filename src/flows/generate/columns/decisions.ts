import { openRows } from "../../rows/open-rows.ts";
import { UnreadableInput } from "../../rows/problem.ts";
import type { RowColumns, RowForm } from "../../rows/row-form.ts";
import { normalHeader } from "../../rows/row-form.ts";
import { InputError, type Source } from "../../rows/source.ts";
import { TableReader } from "../../rows/table-rows.ts";
import { shownName } from "../../words.ts";
import { describingColumns } from "../result.ts";

/** The columns of a review's decisions. */
export const decisionColumns = [...describingColumns, "decision", "note"] as const;

type DecisionColumn = (typeof decisionColumns)[number];

/** One row of a review: cells by column, "" where one is empty. */
export interface Decision extends Readonly<Record<DecisionColumn, string>> {
  /** The line of the file on which it starts. */
  readonly fileLine: number;
}

const decisions: ReadonlySet<string> = new Set(["approve", "reject", ""]);

/** The decisions of a review. Throws an InputError where the file is not one. */
export async function readDecisions(source: Source): Promise<Decision[]> {
  const name = shownName(source.name);
  const reader = await openRows({ source, read: {}, form: decisionForm });
  if (!(reader instanceof TableReader)) throw notDecisions(name, "it is neither CSV nor a workbook");
  const found: Decision[] = [];
  try {
    for await (const rows of reader.batches()) {
      const missing = (["task_id", "decision"] as const).filter((one) => !reader.columns.names.includes(one));
      if (missing.length > 0) throw notDecisions(name, `it has no column "${missing[0]}"`);
      for (const { line, content, fault } of rows) {
        if (fault !== undefined) throw notDecisions(name, `line ${fault.line} ${fault.message}`);
        const cells = content as Record<string, string>;
        const decision = cells.decision!.toLowerCase();
        if (!decisions.has(decision))
          throw notDecisions(name, `line ${line} has the decision ${JSON.stringify(cells.decision)}`);
        found.push({ ...(cells as Record<DecisionColumn, string>), decision, fileLine: line });
      }
    }
  } catch (error) {
    if (error instanceof UnreadableInput) throw notDecisions(name, error.problem.message);
    throw error;
  }
  if (reader.header.length === 0) throw notDecisions(name, "it is empty");
  const lineOf = new Map<string, number>();
  for (const { task_id, fileLine } of found) {
    const before = lineOf.get(task_id);
    if (before !== undefined)
      throw notDecisions(name, `lines ${before} and ${fileLine} decide about the same task`);
    lineOf.set(task_id, fileLine);
  }
  return found;
}

const notDecisions = (name: string, why: string): InputError =>
  new InputError(
    `${name} is not a file of decisions: ${why}`,
    "invalid_decisions",
    "Use the CSV file that the gallery saves, with approve or reject in the column decision.",
  );

/** Rows of any columns; those of decisions are read by name. */
export const isDecisionColumn = (header: string): boolean =>
  (decisionColumns as readonly string[]).includes(normalHeader(header));

const decisionForm: RowForm = {
  isColumn: isDecisionColumn,
  columns: (header) => decisionCells(header),
  fromObject: (object) => object,
  problems: () => [],
  referenceOf: () => undefined,
  withoutDone: (object) => object,
};

const decisionCells = (header: readonly string[]): RowColumns => {
  const names = header.map(normalHeader);
  return {
    names,
    referenceColumn: -1,
    toRow: (record) =>
      Object.fromEntries(
        decisionColumns.map((column) => [column, record[names.indexOf(column)]?.trim() ?? ""]),
      ),
    strayCell: () => null,
    cellProblems: () => [],
    columnOfPath: () => null,
    withoutDone: (record) => record,
  };
};
