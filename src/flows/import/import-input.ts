import type { ImportMode, OnImageError } from "../../contract/value-sets.ts";
import type { OutputTargets } from "../outputs/results-file.ts";
import type { LocalPhotos } from "../photos/local-photos.ts";
import type { ProgressEvent } from "../progress-event.ts";
import type { CheckResult } from "../rows/check.ts";
import type { ColumnMap, ValueMap } from "../rows/mapped-columns.ts";
import type { RowFile } from "../rows/open-rows.ts";
import type { InputProblem } from "../rows/problem.ts";
import type { RejectedRows } from "../rows/row-sets.ts";
import type { RunHost } from "../run/run.ts";
import type { UnknownBatches } from "../run/unknown-outcome.ts";

/** The kind of an import run (`Run.kind`). */
export const importKind = "import";

/** `new`: skips photos that are in the ledger, and rows without any change. `all`: sends rows as is. */
export const photosModes = ["new", "all"] as const;
export type PhotosMode = (typeof photosModes)[number];

/** The user's choice for batches of unknown outcome: `resend`, or count rows as (`not-`)`imported`. */
export const unknownChoices = ["resend", "imported", "not-imported"] as const;
export type UnknownChoice = (typeof unknownChoices)[number];

/** The most rows to send, or photos to detach: a number, or a percentage of all. */
export type Limit = { readonly rows: number } | { readonly percent: number };

/** Whose value counts where the sheet and the service have both changed. */
export const conflictChoices = ["service", "sheet"] as const;
export type ConflictChoice = (typeof conflictChoices)[number];

export interface ConflictQuestion {
  readonly file: string;
  readonly conflicts: number;
  /** The first ones. */
  readonly rows: readonly { readonly line: number; readonly reference: string; readonly code: string }[];
}

export interface PlanToApply {
  readonly id: string;
  readonly identity: string;
  readonly fileSha256: string;
  readonly baseUrl: string;
  /** The digest of the API key that made it. */
  readonly account: string;
  /** Whether the line of the file has this row in the plan. */
  isPlanned(line: number, row: string): boolean;
}

/** The flags that decide about the rows of a file. */
export interface RowOptions {
  mode: ImportMode;
  onImageError: OnImageError;
  photos: PhotosMode;
  /** Make the products exactly as the rows say. */
  exact?: boolean | undefined;
  /** Decides conflicts; undefined to ask the user, or to leave the rows out. */
  conflicts?: ConflictChoice | undefined;
  /** Whether the names of the rows are their references: a product that exists keeps its own. */
  namesFromReferences?: boolean | undefined;
  /** Identifies the photos of a folder that rows get in addition; undefined without any. */
  addedPhotos?: string | undefined;
  /** Import references as they are, whatever a program may have made of them. */
  codesAsWritten?: boolean | undefined;
}

export interface ImportInput extends RowOptions {
  file: RowFile;
  map: ColumnMap;
  values: ValueMap;
  localPhotos: LocalPhotos;
  /** Start over instead of resuming a stopped run. */
  fresh: boolean;
  /** Decides batches of unknown outcome; undefined to ask, or to fail without a prompt. */
  unknown: UnknownChoice | undefined;
  /** Whether the user confirmed that a new API key belongs to the organization of earlier imports. */
  sameOrganization: boolean;
  /** Send nothing if more rows than these would be sent. */
  maxChanges?: Limit | undefined;
  /** Send nothing if more photos than these would be detached. */
  maxRemovals?: Limit | undefined;
  /** The plan to apply; undefined for an import without one. */
  applies?: PlanToApply | undefined;
  /** Send nothing if a product changed since the plan was made. */
  strict?: boolean | undefined;
  skipInvalid: boolean;
  /** Whether to follow the imports until they end and read their results. */
  wait: boolean;
  /** The most rows of a batch; undefined for as many as the service takes. */
  batch?: number | undefined;
  /** Batches in flight at once. */
  concurrency: number;
  /** Total time to wait for the imports, in milliseconds; null for no limit. */
  timeoutMs: number | null;
}

export interface ImportHost extends RunHost {
  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  random: () => number;
  /** Called after the check, before sending. Throws if an output file cannot be written. */
  targets: () => Promise<OutputTargets>;
  /** Prompts the user about batches with an unknown outcome; undefined without a terminal. */
  ask: ((question: UnknownOutcomeQuestion) => Promise<UnknownChoice>) | undefined;
  /** Prompts the user about conflicts; undefined without a terminal. */
  askConflicts?: ((question: ConflictQuestion) => Promise<ConflictChoice | "stop">) | undefined;
  /** Asks the user for consent; undefined without a terminal. */
  confirm?: ((question: string) => Promise<boolean>) | undefined;
  onProgress: (event: ProgressEvent) => void;
  onProblem: (problem: InputProblem) => void | Promise<void>;
  /** Called once the file is checked and all its problems were reported. */
  onChecked?: (check: CheckResult) => Promise<void>;
  /** Writes per minute that the service allows (Limits), for an estimate; Infinity without a limit. */
  writesPerMinute: number;
}

/** A question to the user about batches whose outcome can no longer be determined. */
export interface UnknownOutcomeQuestion extends UnknownBatches {
  rows: number;
  /** Number of references that exist at the service; null if the key lacks products:read. */
  existing: number | null;
  /** Whether the service still knows the idempotency keys, so that a resent batch is processed only once. */
  resendsOnce: boolean;
  /** Accepted imports that the service no longer knows; empty if the response was lost instead. */
  lost: readonly string[];
}

export interface FileToImport {
  readonly input: ImportInput;
  readonly host: ImportHost;
}

export interface CheckedFile extends FileToImport {
  readonly check: CheckResult;
  readonly rejectedRows: RejectedRows;
  /** How long the check took, in milliseconds. */
  readonly tookMs: number;
}
