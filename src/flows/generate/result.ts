import type { Task } from "../../contract/resources/tasks.ts";
import type { StoredDecision } from "../../state/decisions.ts";
import { nameIn } from "../bucket/address.ts";
import type { ResultsForm } from "../outputs/results-file.ts";
import type { Place } from "../rows/problem.ts";
import type { Generation } from "./generation.ts";

/** What is reported of one generation: a row of the results file. */
export interface GenerationResult {
  readonly generation: Generation;
  readonly task_id: string | null;
  /** The task's status as last seen; `rejected` where the service did not accept the input. */
  readonly status: Task["status"] | "rejected" | "not_queued" | "unknown";
  /** The name of the saved file. */
  readonly file: string | null;
  /** Whether that file has the label of generated images; null without a file. */
  readonly label: boolean | null;
  /** What a review says of its image; null without one. */
  readonly review: Pick<StoredDecision, "decision" | "note"> | null;
  readonly failure_reason: { readonly code: string; readonly message: string } | null;
  /** Whether another run has requested it. */
  readonly isOfOtherRun?: boolean;
}

/** The columns that describe a generation, in the results and in the decisions of a review. */
export const describingColumns = [
  "line",
  "task_id",
  "status",
  "product_id",
  "product_reference",
  "model_id",
  "background",
  "angle_shot",
] as const;

export const resultColumns = [
  ...describingColumns,
  "file",
  "failure_reason",
  "ai_generated",
  "label",
  "decision",
  "note",
] as const;

/** What an output is named after; a task that this machine did not start is known by its product alone. */
export type NamedOutput = Pick<Generation, "productId" | "productReference"> &
  Partial<Pick<Generation, "angleShot" | "background" | "modelName" | "modelId" | "subtype" | "style">>;

/** The folder in that of `--save` for images that a review has rejected. */
export const rejectedFolder = "rejected";

/** Whether a saved file, by its path in that folder, is kept apart as rejected. */
export const isKeptApart = (file: string | null | undefined): boolean =>
  file?.startsWith(`${rejectedFolder}/`) === true;

/** A generation for people: `DRESS-1  Mia  studio  full-front`. */
export const describeImage = (generation: Generation): string => {
  const { productReference, productId, modelName, modelId, background, angleShot } = generation;
  const parts = [productReference ?? productId, modelName ?? modelId, background, angleShot];
  return parts.filter((part) => part !== null).join("  ");
};

/** A result as a row of the service's field names; every output of a generation is AI-generated (ExportRow). */
export const resultRow = (
  line: number | null,
  {
    generation,
    task_id,
    status,
    file,
    label,
    review,
    failure_reason,
  }: Omit<GenerationResult, "generation"> & { generation: NamedOutput },
) => ({
  line,
  task_id,
  status,
  product_id: generation.productId,
  product_reference: generation.productReference,
  model_id: generation.modelId ?? null,
  background: generation.background ?? null,
  angle_shot: generation.angleShot ?? null,
  file,
  failure_reason,
  ai_generated: status === "succeeded" ? true : null,
  label,
  decision: review?.decision ?? null,
  note: review?.note || null,
});

export type ResultRow = ReturnType<typeof resultRow>;

/** A row as CSV cells; the reason is `CODE: MESSAGE`. */
export const resultCells = (row: ResultRow): readonly string[] =>
  resultColumns.map((column) => {
    const value = row[column];
    if (column === "failure_reason") return row.failure_reason === null ? "" : reasonText(row.failure_reason);
    return value === null ? "" : String(value);
  });

export const reasonText = ({ code, message }: { code: string; message: string }): string =>
  message === "" || message === code ? code : `${code}: ${message}`;

export const generationResults: ResultsForm<GenerationResult> = {
  columns: resultColumns,
  cells: (line, result) => resultCells(resultRow(line, result)),
  object: resultRow,
};

/** What a run of generations did, in the form that `--json` prints. Counts are generations. */
export interface GenerationSummary {
  run_id: string;
  /** All generations that the input asks for, with those of invalid rows as one each. */
  total: number;
  /** Queued by this command. */
  queued: number;
  succeeded: number;
  failed: number;
  /** Generated or in progress before this command, and not queued again. */
  unchanged: number;
  tasks: {
    id: string;
    status: string;
    line: number;
    output_file?: string;
    failure_reason?: { code: string; message: string };
    label?: boolean;
  }[];
  duration_ms: number;
  /** Those of them that existed, whoever has generated them; only with `--missing`. */
  existing?: number;
  /** Those of them that another run has in progress, or may have; only with `--missing`. */
  in_progress?: number;
  /** Rows beyond the limit, which count nowhere else; only with `--limit`. */
  left?: number;
  /** Rows that the check found invalid; only where there are any. */
  invalid?: number;
  /** Inputs that the service rejected; only where there are any. */
  rejected?: (Place & { line: number; code: string; message: string })[];
  /** Generations that were not queued because the run stopped; only where there are any. */
  not_queued?: number;
  /** Generations whose request got no response; only where there are any. */
  unknown?: number;
  /** What the run lacks, in credits; only where the service rejected it with a balance (402). */
  credits?: { left: number; short: number };
  /** Outputs that were saved without the label, because they cannot have it; only where there are any. */
  unlabeled?: number;
  /** Outputs that could not be saved, by task; only where there are any. */
  unsaved?: { id: string; message: string }[];
  failed_file?: string;
  results_file?: string;
  gallery_file?: string;
}

/** The task of a result, as the summary lists it, with its file in `folder`; null where it has none. */
export function toSummaryTask(
  { generation, task_id, status, file, label, failure_reason }: GenerationResult,
  folder: string | null,
): GenerationSummary["tasks"][number] | null {
  if (task_id === null) return null;
  return {
    id: task_id,
    status,
    line: generation.line,
    ...(file !== null && { output_file: nameIn(folder ?? "", file) }),
    ...(failure_reason !== null && { failure_reason }),
    ...(label !== null && { label }),
  };
}
