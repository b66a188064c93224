import type { FileVersion, Validator } from "./file-version.ts";

/** Where a download goes: it keeps bytes between attempts, and may keep them between processes. */
export interface DownloadTarget {
  /** The bytes of an earlier process, with the version that they belong to; null where none can be continued. */
  readonly kept: {
    readonly bytes: number;
    readonly validator: Validator;
    readonly total: number | null;
  } | null;
  /** Drops every byte and begins with this version. */
  begin(version: FileVersion): Promise<void>;
  /** Takes the next bytes; a promise asks to wait before more come. */
  write(chunk: Uint8Array): Promise<void> | undefined;
}

export interface DownloadLimits {
  /** The time for a download of no size, retries and their waits included, in milliseconds; each byte adds to it. */
  totalMs?: number | undefined;
  /** The slowest link that a download is meant to end on, in bytes per millisecond. */
  slowest?: number | undefined;
  /** How long the server may send nothing, in milliseconds. */
  silenceMs?: number | undefined;
  /** Attempts in a row that may end without a byte more. */
  attempts?: number | undefined;
  /** Fresh URLs in a row that may end without a byte more. */
  freshUrls?: number | undefined;
  /** The most bytes to take; a longer file is a BadAnswerError. */
  maxBytes?: number | undefined;
}

/** What the caller knows of the file beforehand; a response that differs is a BadAnswerError. */
export interface ExpectedFile {
  bytes?: number | undefined;
  /** The media type, without parameters. */
  type?: string | undefined;
}

export interface ResumableDownload {
  url: string;
  /** Gives another signed URL of the same file, when one has expired. */
  freshUrl?: (() => Promise<string>) | undefined;
  expected?: ExpectedFile | undefined;
  /** Whether all has come: for a file whose length neither the server nor `expected` gives. */
  isComplete?: (() => Promise<boolean>) | undefined;
  signal?: AbortSignal | undefined;
  limits?: DownloadLimits | undefined;
}

/** Downloads a file into a target; resolves to its length once every byte was handed to the target. */
export type DownloadInto = (target: DownloadTarget, download: ResumableDownload) => Promise<number>;
