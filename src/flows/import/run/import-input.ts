import type { Client } from "../../../client/client.ts";
import type { Clock } from "../../../clock.ts";
import type { ImportMode, OnImageError } from "../../../contract/value-sets.ts";
import type { SentJobs } from "../../../state/sent-jobs.ts";
import type { State } from "../../../state/state.ts";
import type { OutputTargets } from "../../outputs/output-targets.ts";
import type { LocalPhotos } from "../../photos/local-photos.ts";
import type { ProgressEvent } from "../../progress-event.ts";
import type { CheckResult } from "../../rows/check.ts";
import type { RowFile } from "../../rows/open-rows.ts";
import type { Problem } from "../../rows/problem.ts";
import type { ServiceIdentity } from "../../run/account.ts";
import type { ColumnMap } from "../columns/csv-columns.ts";
import type { ImportForm } from "../columns/import-form.ts";

/** `new`: skips photos that are in the ledger, and rows without any change. `all`: sends rows as is. */
export const photosModes = ["new", "all"] as const;
export type PhotosMode = (typeof photosModes)[number];

/**
 * The user's choice for batches of earlier runs with an unknown outcome: `resend` them unchanged, count their
 * rows as `imported`, or as `not-imported`.
 */
export const unknownChoices = ["resend", "imported", "not-imported"] as const;
export type UnknownChoice = (typeof unknownChoices)[number];

export interface ImportInput {
  file: RowFile & { readonly form: ImportForm };
  /** The columns mapped with `--map`. */
  map: ColumnMap;
  /** The local photos that the file may name. */
  localPhotos: LocalPhotos;
  mode: ImportMode;
  onImageError: OnImageError;
  photos: PhotosMode;
  /** Start over instead of resuming a stopped run. */
  fresh: boolean;
  /**
   * The choice for batches with an unknown outcome; undefined to ask the user, or to fail without a prompt.
   */
  unknown: UnknownChoice | undefined;
  /** Whether the user confirmed that a new API key belongs to the organization of earlier imports. */
  sameOrganization: boolean;
  /** Skip the rows that the check rejects, and import the others. */
  skipInvalid: boolean;
  /** Whether to follow the imports until they end and read their results. */
  wait: boolean;
  /** Batches in flight at once. */
  concurrency: number;
  /** Total time to wait for the imports, in milliseconds; null for no limit. */
  timeoutMs: number | null;
}

/** The stores that an import writes to, and the service they belong to. */
export interface Memory {
  readonly state: State;
  readonly sentJobs: SentJobs;
  readonly service: ServiceIdentity;
}

export interface ImportDeps {
  clock: Clock;
  random: () => number;
  /** Returns a new, unique idempotency key (Cross-cutting rule 1). */
  newKey: () => string;
  /** The ID of this process, shown to other processes that find its run. */
  pid: number;
  /** A new ID for this run; also part of the names of unfinished files. */
  runId: string;
  /**
   * Called after the file passed the check, before anything is sent. Throws if an output file cannot be
   * written.
   */
  targets: () => Promise<OutputTargets>;
  /** Called after `targets`; every later step needs the service. */
  client: () => Promise<Client>;
  /** The local stores for runs, the ledger and the list of imports. */
  memory: () => Promise<Memory>;
  /** Prompts the user about batches with an unknown outcome; undefined without a terminal. */
  ask: ((question: UnknownOutcomeQuestion | ReplacedProductsQuestion) => Promise<UnknownChoice>) | undefined;
  signal?: AbortSignal | undefined;
  onProgress: (event: ProgressEvent) => void;
  onProblem: (problem: Problem) => void | Promise<void>;
  /** Called once the file is checked and all its problems were reported. */
  onChecked?: (check: CheckResult) => Promise<void>;
  /** Writes per minute that the service allows (Limits), for an estimate; Infinity without a limit. */
  writesPerMinute: number;
  /** Receives a note for the user about the next steps. */
  onNote: (sentence: string) => void;
}

/** A question to the user about batches whose outcome can no longer be determined. */
export interface UnknownOutcomeQuestion {
  /** The files of the runs, as typed. */
  file: string;
  /** Time the first of the batches was sent, in Unix milliseconds. */
  sentAt: number;
  rows: number;
  /** Number of references that exist at the service; null if the key lacks products:read. */
  existing: number | null;
  /** Whether the service still knows the idempotency keys, so that a resent batch is processed only once. */
  resendsOnce: boolean;
  /** Accepted imports that the service no longer knows; empty if the response was lost instead. */
  lost: readonly string[];
}

/** A question to the user about products whose attached photos are unknown. */
export interface ReplacedProductsQuestion {
  /** The file as typed. */
  file: string;
  /** Number of rows whose reference now belongs to another product, which has photos. */
  replaced: number;
}
