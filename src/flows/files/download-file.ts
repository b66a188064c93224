// Downloads: files behind signed URLs, resumed after a break or a kill, renamed when complete.

import { stat } from "node:fs/promises";
import type { Client } from "../../client/client.ts";
import { BadAnswerError } from "../../http/errors.ts";
import { whereLinksLead } from "./file-names.ts";
import { OutputError } from "./output-error.ts";
import { PartFile, type PartOptions } from "./part-file.ts";
import { withoutQuery, wrongContent } from "./wrong-content.ts";

type ResumableDownload = Parameters<Client["downloadInto"]>[1];

export interface FileDownload
  extends Pick<ResumableDownload, "url" | "freshUrl" | "expected" | "signal" | "limits"> {
  /** The path of the complete file. */
  path: string;
  /** Whether a file that has the path is replaced (default: true). */
  replaces?: boolean | undefined;
  /** The file as errors name it (default: its path). */
  name?: string | undefined;
  /** The name of the part next to it (default: `.NAME.part`). */
  part?: string | undefined;
  /**
   * The identity of the resource, stable across its signed URLs (default: the URL without its query). A part of another
   * resource is not resumed; of an earlier version of the same, the validator tells.
   */
  resource?: string | undefined;
  /** The problem of a complete file, from its first bytes, e.g. `is empty`; null if none. */
  problemOf?: ((head: Uint8Array) => string | null) | undefined;
  /**
   * Checks the complete file at this path before it gets its name. Throws a BadAnswerError if it is broken: then it is
   * downloaded once more.
   */
  check?: ((partPath: string) => Promise<void>) | undefined;
  /** The free space of a folder in bytes (default: as the system reports it). */
  freeBytes?: PartOptions["freeBytes"];
  /** The permissions of a new file, less the umask. */
  mode?: number | undefined;
  onProgress?: PartOptions["onProgress"];
  /** Bytes buffered before they are written (default: 1 MiB). */
  batchBytes?: PartOptions["batchBytes"];
}

/** The maximum number of first bytes passed to `problemOf`. */
const headBytes = 64;
/** Maximum number of downloads of a file that its check rejects. */
const contentAttempts = 2;

/**
 * Downloads a signed URL into a file that appears under its name only when it is complete and on disk. Until
 * then the bytes are in a part next to it, which this process resumes after a break, and the next one after a
 * kill. Resolves to the length. Throws OutputError, and the errors of `client.downloadInto`.
 */
export async function downloadToFile(
  client: Pick<Client, "downloadInto">,
  file: FileDownload,
): Promise<number> {
  const path = await whereLinksLead(file.path);
  await rejectNonFile(path, file.name);
  const { url, signal, limits, expected, problemOf } = file;
  let current = url;
  const freshUrl = file.freshUrl && (async () => (current = await file.freshUrl!()));
  const part = await PartFile.open({
    path,
    name: file.name,
    replaces: file.replaces,
    part: file.part,
    freeBytes: file.freeBytes,
    resource: () => file.resource ?? withoutQuery(current),
    mode: file.mode,
    onProgress: file.onProgress,
    batchBytes: file.batchBytes,
  });
  try {
    for (let attempt = 1; ; attempt++) {
      const download = { url: current, freshUrl, signal, limits, expected };
      const length = await client.downloadInto(part, download);
      const broken = await problemAfter(part, file);
      if (broken === null) {
        const problem = problemOf?.(await part.head(headBytes)) ?? null;
        if (problem !== null) {
          await part.forget();
          throw wrongContent(current, problem);
        }
        await part.finish(length);
        return length;
      }
      // A second download fixes bytes that were damaged on disk, or on the way.
      await part.forget();
      if (attempt === contentAttempts) throw broken;
    }
  } catch (error) {
    if (error instanceof BadAnswerError && error.code === "file_too_large") await part.forget();
    throw error;
  } finally {
    await part.keep();
  }
}

/** The error of a file with wrong content, which another download may not have; null for a right one. */
async function problemAfter(part: PartFile, { check }: FileDownload): Promise<BadAnswerError | null> {
  try {
    await check?.(await part.flush());
    return null;
  } catch (error) {
    if (error instanceof BadAnswerError) return error;
    throw error;
  }
}

async function rejectNonFile(path: string, name = path): Promise<void> {
  const found = await stat(path).catch(() => null);
  if (found === null || found.isFile()) return;
  const code = found.isDirectory() ? "EISDIR" : "EINVAL";
  throw new OutputError(name, Object.assign(new Error("not a regular file"), { code }));
}
