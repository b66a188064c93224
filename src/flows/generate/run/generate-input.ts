import type { Client } from "../../../client/client.ts";
import type { Clock } from "../../../clock.ts";
import type { GenerationKind } from "../../../contract/generation-rules.ts";
import type { Task } from "../../../contract/resources/task.ts";
import type { SentJobs } from "../../../state/sent-jobs.ts";
import type { State } from "../../../state/state.ts";
import type { OutputTargets } from "../../outputs/output-targets.ts";
import type { ProgressEvent } from "../../progress-event.ts";
import type { RowFile } from "../../rows/open-rows.ts";
import type { Problem } from "../../rows/problem.ts";
import type { ServiceIdentity } from "../../run/run.ts";
import type { Generation } from "../generation.ts";

/** What `--unknown` decides about batches whose outcome can no longer be learned. */
export const unknownChoices = ["queued", "not-queued", "resend"] as const;
export type UnknownChoice = (typeof unknownChoices)[number];

/** What one command is to generate. */
export interface GenerateInput {
  readonly kind: GenerationKind;
  readonly file: RowFile;
  /** Whether cells expand to every combination of their values. */
  readonly matrix: boolean;
  /** Whether the input may ask for the same image twice. */
  readonly allowDuplicates: boolean;
  /** Sends the valid rows where others are invalid, or the service rejects them. */
  readonly skipInvalid: boolean;
  /** Generates again what an earlier run of the same input has generated. */
  readonly fresh: boolean;
  readonly unknown: UnknownChoice | undefined;
  /** The most generations that the input may ask for; null for any number. */
  readonly maxGenerations: number | null;
  /** Follow the tasks to their end. */
  readonly wait: boolean;
  readonly concurrency: number;
  /** How long to wait for the tasks, in milliseconds; null for as long as they take. */
  readonly timeoutMs: number | null;
  /** The folder for the images; null to save none. */
  readonly saveTo: string | null;
  /** The largest image to save, in bytes. */
  readonly maxBytes: number;
  /** The same as it was typed, for the summary. */
  readonly saveAs: string | null;
  /** The failed file as it was typed; undefined for the default. */
  readonly failed: string | undefined;
  /** The tasks whose rejected images are generated again, by the line of the input; empty without `--rerun`. */
  readonly replacing: ReadonlyMap<number, string>;
}

/** A batch whose outcome is unknown, for the person who decides about it. */
export interface DoubtQuestion {
  readonly file: string;
  /** When the first of the batches was sent, in Unix milliseconds. */
  readonly sentAt: number;
  readonly generations: number;
  /** How many tasks of the same products the service has from that time. */
  readonly found: number;
}

export interface GenerateDeps {
  readonly clock: Clock;
  readonly random: () => number;
  /** A new idempotency key, unlike any other (Cross-cutting rule 1). */
  readonly newKey: () => string;
  readonly pid: number;
  readonly runId: string;
  readonly signal?: AbortSignal | undefined;
  /** Called once the file is found valid, before the first request: throws where an output cannot be written. */
  readonly targets: () => Promise<OutputTargets>;
  readonly client: () => Promise<Client>;
  readonly memory: () => Promise<{ state: State; sentJobs: SentJobs; service: ServiceIdentity }>;
  /** Has the user agree to the cost of so many generations; throws where they do not. */
  readonly confirm: (plan: {
    generations: readonly Generation[];
    batches: number;
    queuedBefore: number;
  }) => Promise<void>;
  /** Asks a person about batches of unknown outcome; undefined where there is none to ask. */
  readonly ask: ((question: DoubtQuestion) => Promise<UnknownChoice>) | undefined;
  /** How many writes per minute the service allows (Limits), for an estimate; Infinity where it sets no limit. */
  readonly writesPerMinute: number;
  readonly onProgress: (event: ProgressEvent) => void;
  readonly onProblem: (problem: Problem) => void | Promise<void>;
  /** Receives a sentence for people. */
  readonly onNote: (sentence: string) => void;
  /** Receives a task that failed. */
  readonly onFailed: (generation: Generation, task: Task) => void;
}
