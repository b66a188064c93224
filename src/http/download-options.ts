/** Options of a download. */
export interface DownloadOptions {
  /** Aborts the download. */
  signal?: AbortSignal | undefined;
  /** The maximum number of bytes; more is a BadResponseError (default: no limit). */
  maxBytes?: number | undefined;
  /** The maximum number of attempts to open the URL (default: 6, as for other requests). */
  attempts?: number | undefined;
  /** Receives the announced length in bytes before the first bytes; null without one. */
  onLength?: ((bytes: number | null) => void) | undefined;
}

/** Streams the bytes behind a signed URL. */
export type Download = (url: string, options?: DownloadOptions) => AsyncIterable<Uint8Array>;

/** The version of a file that a response describes. */
export interface FileVersion {
  /** A strong ETag; null without one: such a download cannot be resumed. */
  readonly etag: string | null;
  /** The length of the complete file; null if the response does not give it. */
  readonly total: number | null;
}

/** The target of a download: keeps bytes between attempts, and possibly between processes. */
export interface DownloadTarget {
  /** The number of bytes of an earlier process, with their version; null if none can be resumed. */
  readonly kept:
    | (FileVersion & {
        /** The number of bytes. */
        readonly bytes: number;
      })
    | null;
  /** Drops all bytes and starts over with this version. */
  begin(version: FileVersion): Promise<void>;
  /** Takes the next bytes. */
  write(chunks: readonly Uint8Array[]): Promise<void>;
}

/** Limits of a download that resumes. */
export interface DownloadLimits {
  /** The time limit of an empty download with its retries, in ms (default: 300,000); each byte extends it. */
  totalMs?: number | undefined;
  /** The maximum number of consecutive attempts without a new byte. Default: 6. */
  attempts?: number | undefined;
  /** The maximum number of bytes; a longer file is a BadResponseError. */
  maxBytes?: number | undefined;
}

/** A download that resumes after a break. */
export interface ResumableDownload {
  /** The signed URL. */
  url: string;
  /** Returns another signed URL of the same file after one has expired. */
  freshUrl?: (() => Promise<string>) | undefined;
  /** The expected media type, without parameters; another one is a BadResponseError. */
  type?: string | undefined;
  /** Aborts the download. */
  signal?: AbortSignal | undefined;
  /** Its time limit, attempts and size. */
  limits?: DownloadLimits | undefined;
}

/** Downloads a file into a target; resolves to its length after the target has taken every byte. */
export type DownloadInto = (target: DownloadTarget, download: ResumableDownload) => Promise<number>;
