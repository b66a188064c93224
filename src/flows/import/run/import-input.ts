import type { Client } from "../../../client/client.ts";
import type { Clock } from "../../../clock.ts";
import type { ImportMode, OnImageError } from "../../../contract/value-sets.ts";
import type { SentJobs } from "../../../state/sent-jobs.ts";
import type { State } from "../../../state/state.ts";
import type { OutputTargets } from "../../outputs/output-targets.ts";
import type { LocalPhotos } from "../../photos/local-photos.ts";
import type { ProgressEvent } from "../../progress-event.ts";
import type { RowFile } from "../../rows/open-rows.ts";
import type { Problem } from "../../rows/problem.ts";
import type { ServiceIdentity } from "../../runs/service-identity.ts";
import type { ColumnMap } from "../columns/csv-columns.ts";

/** `new`: photos that the ledger knows are left out, and with them rows that would change nothing. `all`: rows go as they stand. */
export const photosModes = ["new", "all"] as const;
export type PhotosMode = (typeof photosModes)[number];

/**
 * What the user says of calls of earlier runs whose outcome is not known: `resend` them as they were, take their rows as
 * `imported`, or take them as `not-imported`.
 */
export const unknownChoices = ["resend", "imported", "not-imported"] as const;
export type UnknownChoice = (typeof unknownChoices)[number];

export interface ImportInput {
  file: RowFile;
  /** What `--map` says of the file's columns. */
  map: ColumnMap;
  /** The photos on this machine that the file may name. */
  localPhotos: LocalPhotos;
  mode: ImportMode;
  onImageError: OnImageError;
  photos: PhotosMode;
  /** Begin anew rather than take up a run that was stopped. */
  fresh: boolean;
  /** What to do with calls of earlier runs whose outcome is not known; undefined to be asked, or refused. */
  unknown: UnknownChoice | undefined;
  /** Whether the user says that a new key belongs to the organization of earlier imports. */
  sameOrganization: boolean;
  /** Leave out the rows that the check refuses, and import the others. */
  skipInvalid: boolean;
  /** Whether to follow the jobs to their end and read their results. */
  wait: boolean;
  /** How many batches are in flight at once. */
  concurrency: number;
  /** How long to wait for the jobs in all, in milliseconds; null for as long as they take. */
  timeoutMs: number | null;
}

/** Where an import is remembered, and for which service. */
export interface Memory {
  readonly state: State;
  readonly sentJobs: SentJobs;
  readonly service: ServiceIdentity;
}

export interface ImportDeps {
  clock: Clock;
  random: () => number;
  /** A new idempotency key, which nobody else has (Cross-cutting rule 1). */
  newKey: () => string;
  /** The number of this process, for who finds its run. */
  pid: number;
  /** A new id for this run, used in names of unfinished files as well. */
  runId: string;
  /** Called once the file was found in order, and before anything is sent: throws when a file could not be written. */
  targets: () => Promise<OutputTargets>;
  /** Called after that: what follows needs the service. */
  client: () => Promise<Client>;
  /** Where runs, the ledger and the imports of this machine are kept, and for which service. */
  memory: () => Promise<Memory>;
  /** Asks a person about calls of unknown outcome; undefined where there is none to ask. */
  ask: ((question: DoubtQuestion) => Promise<UnknownChoice>) | undefined;
  signal?: AbortSignal | undefined;
  onProgress: (event: ProgressEvent) => void;
  onProblem: (problem: Problem) => void | Promise<void>;
  /** How many writes a minute the service allows (Limits), for an estimate; Infinity where it sets no limit. */
  writesPerMinute: number;
  /** A sentence for people on what is going to be done. */
  onNote: (sentence: string) => void;
}

/** What is put to the user about calls whose outcome nobody can learn any more. */
export interface DoubtQuestion {
  /** The files of the runs, as they were typed. */
  file: string;
  /** When the calls were sent, the first of them, in Unix milliseconds. */
  sentAt: number;
  rows: number;
  /** How many of the rows' references exist at the service; null where the key may not read products. */
  existing: number | null;
  /** Whether the service still knows the keys, so that what is sent again is carried out once. */
  resendsOnce: boolean;
  /** Imports that took the rows up and that the service does not know any more; else it is the answer that never came. */
  lost: readonly string[];
}
