import { join } from "node:path";
import type { GenerationResult } from "./generation-result.ts";

/** What a run of generations did, in the form that `--json` prints. Counts are generations. */
export interface GenerationSummary {
  run_id: string;
  /** All generations that the input asks for, with those of invalid rows as one each. */
  total: number;
  /** Queued by this command. */
  queued: number;
  succeeded: number;
  failed: number;
  /** Queued by an earlier command of the same run, and not again. */
  unchanged: number;
  tasks: {
    id: string;
    status: string;
    line: number;
    output_file?: string;
    failure_reason?: { code: string; message: string };
  }[];
  duration_ms: number;
  /** Rows that the check found invalid; only where there are any. */
  invalid?: number;
  /** Inputs that the service rejected; only where there are any. */
  rejected?: { line: number; code: string; message: string }[];
  /** Generations that were not queued because the run stopped; only where there are any. */
  not_queued?: number;
  /** Generations whose request got no response; only where there are any. */
  unknown?: number;
  /** Outputs that could not be saved, by task; only where there are any. */
  unsaved?: { id: string; message: string }[];
  failed_file?: string;
  results_file?: string;
  gallery_file?: string;
}

/** The task of a result, as the summary lists it, with its file in `folder`; null where it has none. */
export function taskOf(
  { generation, task_id, status, file, failure_reason }: GenerationResult,
  folder: string | null,
): GenerationSummary["tasks"][number] | null {
  if (task_id === null) return null;
  return {
    id: task_id,
    status,
    line: generation.line,
    ...(file !== null && { output_file: join(folder ?? "", file) }),
    ...(failure_reason !== null && { failure_reason }),
  };
}
