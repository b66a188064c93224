// Downloads: files behind signed URLs, resumed after a break or a kill, renamed when they are complete.

import { stat } from "node:fs/promises";
import type { Client } from "../../client/client.ts";
import { BadAnswerError } from "../../http/errors.ts";
import { OutputError } from "../outputs/output-error.ts";
import { whereLinksLead } from "../outputs/output-file.ts";
import { PartFile, type PartOptions } from "./part-file.ts";

type ResumableDownload = Parameters<Client["downloadInto"]>[1];

export interface FileDownload extends Pick<ResumableDownload, "url" | "freshUrl" | "signal" | "limits"> {
  /** Where the file goes; one that exists is replaced. */
  path: string;
  /** The name of the part next to it; `.NAME.part` unless given. */
  part?: string | undefined;
  /**
   * What is downloaded, in a form that stays the same from one signed URL to the next. A part of another resource is not
   * continued, nor one from another URL (the query aside).
   */
  resource?: string | undefined;
  /** `sha256` in lower-case hex; it is computed only when given. */
  expected?: (ResumableDownload["expected"] & { sha256?: string | undefined }) | undefined;
  /** Whether the part at this path is complete: for a file without a known length. */
  isComplete?: ((partPath: string) => Promise<boolean>) | undefined;
  /** What is wrong with a complete file, from its first bytes, e.g. `is empty`; null where nothing is. */
  problemOf?: ((head: Uint8Array) => string | null) | undefined;
  /** The permissions of a new file, less the umask. */
  mode?: number | undefined;
  onProgress?: PartOptions["onProgress"];
  /** Bytes between two checkpoints: what a kill may cost. */
  checkpointBytes?: number | undefined;
}

/** How many of the first bytes `problemOf` gets at most. */
const headBytes = 64;
/** How often a file with a wrong digest is downloaded. */
const digestAttempts = 2;

/**
 * Downloads what is behind a signed URL into a file that appears under its name only when it is complete and on the disk.
 * Until then the bytes are in a part next to it, which this process continues after a break, and the next one after a kill.
 * Resolves to the length. Throws OutputError, and what `client.downloadInto` throws.
 */
export async function downloadToFile(
  client: Pick<Client, "downloadInto">,
  file: FileDownload,
): Promise<number> {
  const path = await whereLinksLead(file.path);
  await rejectNonFile(path);
  const { url, signal, limits, expected, isComplete, problemOf } = file;
  let current = url;
  const freshUrl = file.freshUrl && (async () => (current = await file.freshUrl!()));
  const part = await PartFile.open({
    path,
    part: file.part,
    resource: () => `${file.resource ?? ""} ${withoutQuery(current)}`,
    mode: file.mode,
    sha256: expected?.sha256 !== undefined,
    checkpointBytes: file.checkpointBytes,
    onProgress: file.onProgress,
  });
  const isPartComplete = isComplete && (async () => isComplete(await part.flush()));
  try {
    for (let attempt = 1; ; attempt++) {
      const download = { url: current, freshUrl, signal, limits, expected, isComplete: isPartComplete };
      const length = await client.downloadInto(part, download);
      if (expected?.sha256 === undefined || (await part.sha256()) === expected.sha256.toLowerCase()) {
        const problem = problemOf?.(await part.head(headBytes)) ?? null;
        if (problem !== null) {
          await part.forget();
          throw new BadAnswerError(`${withoutQuery(current)} ${problem}`, { code: "wrong_content" });
        }
        await part.finish(length);
        return length;
      }
      // Bytes that the disk has damaged come right with the second download.
      await part.forget();
      if (attempt === digestAttempts) throw wrongDigest(current);
    }
  } finally {
    await part.keep();
  }
}

async function rejectNonFile(path: string): Promise<void> {
  const found = await stat(path).catch(() => null);
  if (found === null || found.isFile()) return;
  const code = found.isDirectory() ? "EISDIR" : "EINVAL";
  throw new OutputError(path, Object.assign(new Error("not a regular file"), { code }));
}

const withoutQuery = (url: string): string => url.split(/[?#]/, 1)[0]!;

const wrongDigest = (url: string): BadAnswerError =>
  new BadAnswerError(`${withoutQuery(url)} has another SHA-256 digest than expected`, {
    code: "wrong_digest",
  });
