import type { FileVersion, Validator } from "./file-version.ts";

/** The target of a download: keeps bytes between attempts, and possibly between processes. */
export interface DownloadTarget {
  /** The bytes of an earlier process, with their version; null if none can be resumed. */
  readonly kept: {
    readonly bytes: number;
    readonly validator: Validator;
    readonly total: number | null;
  } | null;
  /** Drops all bytes and starts over with this version. */
  begin(version: FileVersion): Promise<void>;
  /** Takes the next bytes; a returned promise pauses the download. */
  write(chunk: Uint8Array): Promise<void> | undefined;
}

export interface DownloadLimits {
  /** The time limit of an empty download, including retries and their waits, in milliseconds; each byte extends it. */
  totalMs?: number | undefined;
  /** The slowest link on which a download must finish, in bytes per millisecond. */
  slowest?: number | undefined;
  /** The maximum silence of the server, in milliseconds. */
  silenceMs?: number | undefined;
  /** The maximum number of consecutive attempts without a new byte. */
  attempts?: number | undefined;
  /** The maximum number of consecutive fresh URLs without a new byte. */
  freshUrls?: number | undefined;
  /** The maximum number of bytes; a longer file is a BadAnswerError. */
  maxBytes?: number | undefined;
}

/** Properties of the file known in advance; a response that differs is a BadAnswerError. */
export interface ExpectedFile {
  bytes?: number | undefined;
  /** The media type, without parameters. */
  type?: string | undefined;
}

export interface ResumableDownload {
  url: string;
  /** Returns another signed URL of the same file after one has expired. */
  freshUrl?: (() => Promise<string>) | undefined;
  expected?: ExpectedFile | undefined;
  /** Whether the file is complete, if neither the server nor `expected` gives its length. */
  isComplete?: (() => Promise<boolean>) | undefined;
  signal?: AbortSignal | undefined;
  limits?: DownloadLimits | undefined;
}

/** Downloads a file into a target; resolves to its length after the target has taken every byte. */
export type DownloadInto = (target: DownloadTarget, download: ResumableDownload) => Promise<number>;
