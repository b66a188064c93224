// Downloads: files behind signed URLs, resumed after a break or a kill, renamed when complete.

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { Client } from "../../client/client.ts";
import { CatError } from "../../errors.ts";
import { BadResponseError } from "../../http/errors.ts";
import { labelSplices } from "./ai-label.ts";
import { OutputError } from "./disk.ts";
import { whereLinksLead } from "./file-names.ts";
import { imageInMemory, isCompleteImage, withImageFile } from "./image-bytes.ts";
import { PartFile, type PartOptions } from "./part-file.ts";
import type { DigitalSource } from "./xmp.ts";

type ResumableDownload = Parameters<Client["downloadInto"]>[1];

export interface FileDownload extends ResumableDownload, Omit<PartOptions, "resource"> {
  /** The resource across its signed URLs (default: URL without query): parts of another are not resumed. */
  resource?: string | undefined;
  /** The problem of a complete file, from its first bytes, e.g. `is empty`; null if none. */
  imageProblem?: ((head: Uint8Array) => string | null) | undefined;
  /** Checks a complete file on the disk, before its name. A BadResponseError has it downloaded once more. */
  check?: ((partPath: string) => Promise<void>) | undefined;
  /** The label that the file gets, if it is an image that can have one (default: none). */
  label?: DigitalSource | null | undefined;
  /** Whether the digest of what was sent is needed where a label changes it (default: no). */
  digestsSent?: boolean | undefined;
}

/** A complete file: `chunks` are its bytes if it is in memory, and null if it is at its path. */
export interface DownloadedFile {
  /** As saved. */
  readonly bytes: number;
  readonly chunks: readonly Uint8Array[] | null;
  /** Whether it has the label; null if none was asked for. */
  readonly label: boolean | null;
  /** The file as sent, if its digest was asked for; null if it was saved so. */
  readonly sent: { readonly bytes: number; readonly sha256: string } | null;
}

export type FileFetcher = Pick<Client, "downloadInto">;

/** The maximum number of first bytes passed to `findProblem`. */
const headBytes = 64;
const contentAttempts = 2;

/**
 * Downloads a signed URL into a file that appears when it is complete and on the disk; a small file into
 * memory, if it may. Until then its bytes are in a part, which this process resumes after a break, and the
 * next one after a kill. Throws OutputError, and the errors of `client.downloadInto`.
 */
export async function downloadFile(client: FileFetcher, file: FileDownload): Promise<DownloadedFile> {
  const { signal, limits, type, imageProblem: findProblem, check } = file;
  let { url } = file;
  const freshUrl = file.freshUrl && (async () => (url = await file.freshUrl!()));
  const path = file.inMemory ? file.path : await whereLinksLead(file.path);
  if (!file.inMemory) await rejectNonFile(path, file.name);
  const part = await PartFile.open({ ...file, path, resource: () => file.resource ?? withoutQuery(url) });
  try {
    for (let attempt = 1; ; attempt++) {
      const bytes = await client.downloadInto(part, { url, freshUrl, signal, limits, type });
      const broken = await problemAfter(part, check);
      if (broken === null) {
        const problem = findProblem?.(await part.head(headBytes)) ?? null;
        if (problem === null) return await finish(part, bytes, file);
        await part.forget();
        throw wrongContent(url, problem);
      }
      // A second download fixes bytes that were damaged on disk, or on the way.
      await part.forget();
      if (attempt === contentAttempts) throw broken;
    }
  } catch (error) {
    if (error instanceof BadResponseError && error.code === "file_too_large") await part.forget();
    throw error;
  } finally {
    await part.keep();
  }
}

/** Ends a complete part with its label. The part itself stays as sent: its ETag is about those bytes. */
async function finish(
  part: PartFile,
  bytes: number,
  { label: source = null, digestsSent = false }: FileDownload,
): Promise<DownloadedFile> {
  const asSent = async (label: boolean | null) => ({
    bytes,
    chunks: await part.finish(bytes),
    label,
    sent: null,
  });
  if (source === null) return asSent(null);
  const path = await part.flush();
  const splices =
    path === null
      ? labelSplices(imageInMemory(part.chunks!), source)
      : withImageFile(path, (image) => labelSplices(image, source));
  if (splices === null || splices.length === 0) return asSent(splices !== null);
  const sent = digestsSent
    ? { bytes, sha256: await hashParts(part.chunks ?? createReadStream(path!)) }
    : null;
  return {
    bytes: splices.reduce((sum, { remove, insert }) => sum - remove + insert.length, bytes),
    chunks: await part.finish(bytes, splices),
    label: true,
    sent,
  };
}

/** The SHA-256 of bytes in parts, in lower-case hex. */
export async function hashParts(parts: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash("sha256");
  // Without a turn for each chunk of what is in memory.
  if (Symbol.iterator in parts) for (const part of parts) hash.update(part);
  else for await (const part of parts) hash.update(part);
  return hash.digest("hex");
}

/** The error of a file with wrong content, which another download may not have; null for a right one. */
async function problemAfter(part: PartFile, check: FileDownload["check"]): Promise<BadResponseError | null> {
  const path = await part.flush();
  try {
    if (path !== null) await check?.(path);
    return null;
  } catch (error) {
    if (error instanceof BadResponseError) return error;
    throw error;
  }
}

async function rejectNonFile(path: string, name = path): Promise<void> {
  const stats = await stat(path).catch(() => null);
  if (stats === null || stats.isFile()) return;
  const code = stats.isDirectory() ? "EISDIR" : "EINVAL";
  throw new OutputError(name, Object.assign(new Error("not a regular file"), { code }));
}

/** A URL without what its signature adds, for messages. */
const withoutQuery = (url: string): string => url.split(/[?#]/, 1)[0]!;

/** The error of a download whose bytes are not what they should be; `problem` follows the URL. */
export const wrongContent = (url: string, problem: string): BadResponseError =>
  new BadResponseError(`${withoutQuery(url)} ${problem}`, { code: "wrong_content" });

/** Throws the error of wrong content if the image in a file has no end. */
export function rejectIncompleteImage(path: string, url: string): void {
  if (!withImageFile(path, isCompleteImage))
    throw wrongContent(url, "is incomplete: the end of the image is missing");
}

/** The error of an image over `--max-bytes` with its hint: exit 8, because others are not affected. */
export function withSizeHint(error: unknown): unknown {
  if (!(error instanceof BadResponseError) || error.code !== "file_too_large") return error;
  const hint = "To accept larger images, add --max-bytes, for example --max-bytes 200MB.";
  return new CatError(error.message, { type: "partial", code: error.code, hint, cause: error });
}
