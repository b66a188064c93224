import type { GenerationKind } from "../../contract/generation-rules.ts";
import type { Task } from "../../contract/resources/tasks.ts";
import type { OutputTargets } from "../outputs/results-file.ts";
import type { ProgressEvent } from "../progress-event.ts";
import type { CheckResult } from "../rows/check.ts";
import type { RowFile } from "../rows/open-rows.ts";
import type { InputProblem, Place } from "../rows/problem.ts";
import type { RejectedRows } from "../rows/row-sets.ts";
import { type Run, type RunHost, runIdentity } from "../run/run.ts";
import type { Balance, KnownBalance } from "./balance.ts";
import type { AskedOfFile, Generation, SentGeneration } from "./generation.ts";
import type { KnownLook, LookRule } from "./known-looks.ts";
import type { RecordedReview, Review } from "./review.ts";
import type { SaveOptions } from "./save-outputs.ts";

/** The decisions of `--unknown` about batches whose outcome can no longer be learned. */
export const unqueuedChoices = ["queued", "not-queued", "resend"] as const;
export type UnqueuedChoice = (typeof unqueuedChoices)[number];

export interface SaveFolder {
  /** The folder for the images; null to save none. */
  readonly saveTo: string | null;
  /** The same as it was typed, for the summary. */
  readonly saveAs: string | null;
}

/** The rows to generate images for. */
export interface GenerationRows {
  readonly file: RowFile;
  /** The tasks of rejected images to generate again, by line; empty without `--rerun`. */
  readonly replacing: ReadonlyMap<number, string>;
}

export interface GenerateInput extends GenerationRows, SaveOptions, SaveFolder {
  readonly kind: GenerationKind;
  /** Whether cells expand to every combination of their values. */
  readonly matrix: boolean;
  readonly allowDuplicates: boolean;
  /** Sends the valid rows where others are invalid, or the service rejects them. */
  readonly skipInvalid: boolean;
  /** Generates again what an earlier run of the same input has generated. */
  readonly fresh: boolean;
  /** Whether only images are generated that do not exist yet. */
  readonly missing: boolean;
  readonly unknown: UnqueuedChoice | undefined;
  /** The most images to pay for; null for any number. */
  readonly maxGenerations: number | null;
  readonly wait: boolean;
  readonly concurrency: number;
  /** How long to wait for the tasks, in milliseconds; null for as long as they take. */
  readonly timeoutMs: number | null;
  /** The review that moves rejected images out of that folder; null without one. */
  readonly review: Review | null;
  /** The failed file as it was typed; undefined for the default. */
  readonly failed: string | undefined;
}

export interface CostPlan {
  readonly generations: readonly Generation[];
  readonly table: AskedOfFile["table"];
  /** How many images an earlier command of the run has queued. */
  readonly queuedBefore: number;
  /** How many images the input asks for. */
  readonly asked: number;
  /** How many of them are generated, and in progress. */
  readonly existing: number;
  readonly inProgress: number;
  /** The balance that an earlier command has learned; null for none. */
  readonly balance: KnownBalance | null;
}

export interface GenerateHost extends RunHost {
  readonly random: () => number;
  /** Called once the file is valid, before any request: throws if an output cannot be written. */
  readonly targets: () => Promise<OutputTargets>;
  /** Has the user agree to the cost, else throws. Resolves to the folder for the images, if asked for. */
  readonly confirm: (plan: CostPlan) => Promise<SaveFolder | null>;
  /** The writes per minute that the service allows (Limits), for an estimate; else Infinity. */
  readonly writesPerMinute: number;
  readonly onProgress: (event: ProgressEvent) => void;
  readonly onProblem: (problem: InputProblem) => void | Promise<void>;
  /** Receives what was recorded of the review, before anything is queued. */
  readonly onReview: (recorded: RecordedReview) => void | Promise<void>;
  readonly onFailed: (generation: Generation, task: Task, place: Place) => void;
}

/** A problem of a row, or the reason why a generation was not queued. */
export interface Rejection {
  readonly code: string;
  readonly message: string;
  readonly field?: string | undefined;
}

/** A run whose plan is made, with what its stages have reached. */
export interface GenerationRun {
  readonly input: GenerateInput;
  readonly run: Run;
  readonly targets: OutputTargets;
  readonly balance: Balance;
  readonly check: CheckResult;
  readonly rejectedRows: RejectedRows;
  readonly table: AskedOfFile["table"];
  /** Why those rows that are valid by themselves are invalid, by line: what they name does not exist. */
  readonly unresolved: ReadonlyMap<number, Rejection>;
  /** How many combinations the rows expand to, by line. */
  readonly combinations: ReadonlyMap<number, number>;
  /** The generations that were sent, by this process and earlier ones, by place. */
  readonly sent: Map<string, SentGeneration>;
  /** The images that are not queued because they exist, or are in progress elsewhere, by place. */
  readonly known: Map<string, KnownLook>;
  readonly rule: LookRule;
  readonly pid: number;
  /** The places that earlier commands got tasks for. */
  readonly sentBefore: ReadonlySet<string>;
  /** The images that this process has to queue, with those that an earlier one has not queued. */
  readonly remaining: Generation[];
  /** The generations that the service rejected, by place. */
  readonly rejected: Map<string, { readonly generation: Generation; readonly why: Rejection }>;
  readonly tasks: Map<string, Task>;
  /** The IDs of tasks that the service does not have. */
  readonly lost: Set<string>;
}

/** The identity of the run of an input. Flags that change nothing of it must not pay for it twice. */
export const identityOf = (
  { file: { source }, replacing }: Pick<GenerateInput, "file" | "replacing">,
  isExpanded: boolean,
): string =>
  runIdentity([
    source.digest,
    source.format,
    // With combinations, places mean something else.
    isExpanded,
    // The same image is rejected again under the ID of another task.
    ...(replacing.size > 0 ? [[...replacing.values()]] : []),
  ]);

/** Whether a run has sent something, or has ended because `--missing` found all images. */
export const hasBegun = ({ id, options }: Pick<Run, "id" | "options">, { batches }: Run["state"]): boolean =>
  options.found === "yes" || batches.of(id).length > 0;

/** Which existing looks are generated again. A run that has sent something keeps the flags of its start. */
export const lookRule = (
  input: Pick<GenerateInput, "fresh" | "missing" | "allowDuplicates" | "review">,
  { options, state, id }: Pick<Run, "options" | "state" | "id">,
): LookRule => {
  const has = (flag: "fresh" | "missing") =>
    input[flag] || (options[flag] === "yes" && hasBegun({ id, options }, state));
  const isMissing = has("missing");
  return {
    isFresh: !isMissing && has("fresh"),
    isShared: input.allowDuplicates && !isMissing,
    isMissing,
    preferred: new Set(input.review?.images.map(({ row }) => row.task_id)),
  };
};
