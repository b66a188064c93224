import type { Client } from "../../../client/client.ts";
import type { Clock } from "../../../clock.ts";
import type { SentJobs } from "../../../state/sent-jobs.ts";
import type { State } from "../../../state/state.ts";
import type { ProgressEvent } from "../../progress-event.ts";
import type { Problem } from "../../rows/problem.ts";
import type { ServiceIdentity } from "../../run/run.ts";
import type { Selection } from "../selection/selection.ts";

export type FrozenFormat = "manifest" | "zip";

/** What one command is to export, and where to. */
export interface FrozenInput {
  readonly format: FrozenFormat;
  /** Asset roles, sorted and without duplicates; null for all. */
  readonly roles: readonly string[] | null;
  /** Null for the entire catalogue. */
  readonly selection: Selection | null;
  /** Whether the images of the ZIP files are extracted into a folder. */
  readonly extract: boolean;
  /** The largest image of a ZIP, in bytes. */
  readonly maxBytes: number;
  /** Starts over instead of resuming a run. */
  readonly fresh: boolean;
  /** The file or folder as typed: exports of this machine are listed with it. */
  readonly name: string;
  readonly concurrency: number;
  /** The longest wait in milliseconds; null for as long as it takes. */
  readonly timeoutMs: number | null;
}

/** A file or folder to write. */
export interface FrozenTarget {
  readonly path: string;
  /** Its name in messages. */
  readonly name: string;
  /** Whether a file that has the path is replaced; a folder must be empty. */
  readonly replaces: boolean;
}

export interface FrozenDeps {
  readonly clock: Clock;
  /** A new idempotency key, unlike any other (Cross-cutting rule 1). */
  readonly newKey: () => string;
  readonly pid: number;
  readonly runId: string;
  readonly signal?: AbortSignal | undefined;
  readonly client: () => Promise<Client>;
  readonly memory: () => Promise<{ state: State; sentJobs: SentJobs; service: ServiceIdentity }>;
  /**
   * The files to write for so many jobs, called before any is created: throws where one cannot be written, or must not be
   * replaced. `isDelivered` reports what an earlier process of the same run has written.
   */
  readonly targets: (
    jobs: number,
    isDelivered: (path: string) => Promise<boolean>,
  ) => Promise<readonly FrozenTarget[]>;
  /** The free space of a folder in bytes (default: as the system reports it). */
  readonly freeBytes?: ((folder: string) => Promise<number | null>) | undefined;
  readonly onProgress: (event: ProgressEvent) => void;
  /** Receives each product of the file of `--products-from` that the service does not have. */
  readonly onProblem: (problem: Problem) => void | Promise<void>;
  /** Receives a sentence for people. */
  readonly onNote: (sentence: string) => void;
}
