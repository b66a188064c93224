// The ZIP that a workbook is, and the limits within which it is read.

import type { Readable } from "node:stream";
import { crc32 } from "node:zlib";
import { type Entry, openPromise, type ZipFile } from "yauzl";
import { CatError } from "../../errors.ts";
import { shownCount, shownSize, workbookLimits } from "./limits.ts";

/** A workbook that cannot be read: exit 3. `code` is for programs; the message says what to do. */
export class WorkbookError extends CatError {
  override readonly name = "WorkbookError";
  constructor(code: string, message: string, hint: string, cause?: unknown) {
    super(message, { type: "input", code, hint, cause });
  }
}

const saveAgain = "Open it in Excel or LibreOffice, save it as .xlsx, and try again.";

/** The error for a file that is broken, or more than this program reads. */
export const damagedWorkbook = (name: string, why: string, cause?: unknown): WorkbookError =>
  new WorkbookError("damaged_workbook", `${name} cannot be read as a workbook: ${why}`, saveAgain, cause);

/** The parts of a workbook, by path without a slash at the start, in any case (ECMA-376, part 2, 6.2.2.3). */
export interface Package {
  readonly name: string;
  has(path: string): boolean;
  /** The paths of all parts, in lower case. */
  readonly paths: readonly string[];
  /** Characters that were read of all parts and have no value, as `walkXml` counts them. */
  markup: number;
  /** The bytes of a part. Throws WorkbookError if they are damaged or more than `limit`. */
  read(path: string, limit: number): AsyncGenerator<Buffer>;
  close(): void;
}

/** Opens the ZIP at `path`, in messages `name`. Throws WorkbookError, and errors of the file system. */
export async function openPackage(path: string, name: string): Promise<Package> {
  const zip = await openZip(path, name);
  try {
    const parts = await listParts(zip, name);
    return {
      name,
      has: (part) => parts.has(part.toLowerCase()),
      paths: [...parts.keys()],
      markup: 0,
      read: (part, limit) => readPart(zip, parts.get(part.toLowerCase()), { name, part, limit }),
      close: () => zip.close(),
    };
  } catch (error) {
    zip.close();
    throw error instanceof CatError ? error : damagedWorkbook(name, "its list of files is damaged", error);
  }
}

const openZip = (path: string, name: string): Promise<ZipFile> =>
  openPromise(path, { autoClose: false }).catch((error) => {
    // yauzl's own errors have no code; those of the file system are the caller's.
    throw error.code === undefined ? damagedWorkbook(name, "it is cut off or damaged", error) : error;
  });

async function listParts(zip: ZipFile, name: string): Promise<Map<string, Entry>> {
  if (zip.entryCount > workbookLimits.files)
    throw damagedWorkbook(name, `it has more than ${shownCount(workbookLimits.files)} files`);
  const parts = new Map<string, Entry>();
  const entries: Entry[] = [];
  for await (const entry of zip.eachEntry()) {
    entries.push(entry);
    // Some writers use the separator of Windows.
    const path = entry.fileName.replaceAll("\\", "/").replace(/^\//, "").toLowerCase();
    if (path.endsWith("/")) continue;
    if (parts.has(path))
      throw damagedWorkbook(name, `it has two files named ${JSON.stringify(entry.fileName)}`);
    parts.set(path, entry);
  }
  if (doOverlap(entries)) throw damagedWorkbook(name, "its files overlap");
  return parts;
}

/** The bytes of a header in the ZIP before its name. */
const headerBytes = 30;

/** Whether entries share bytes, which makes a small file of any size. */
function doOverlap(entries: readonly Entry[]): boolean {
  const sorted = [...entries].sort((a, b) => a.relativeOffsetOfLocalHeader - b.relativeOffsetOfLocalHeader);
  return sorted.some(({ relativeOffsetOfLocalHeader }, at) => {
    const before = sorted[at - 1];
    return (
      before !== undefined &&
      relativeOffsetOfLocalHeader < before.relativeOffsetOfLocalHeader + headerBytes + before.compressedSize
    );
  });
}

async function* readPart(
  zip: ZipFile,
  entry: Entry | undefined,
  { name, part, limit }: { name: string; part: string; limit: number },
): AsyncGenerator<Buffer> {
  if (entry === undefined) throw damagedWorkbook(name, `${part} is missing in it`);
  if ((entry.generalPurposeBitFlag & 1) !== 0) throw encryptedWorkbook(name);
  const tooLarge = () => damagedWorkbook(name, `${part} has more than ${shownSize(limit)}`);
  if (entry.uncompressedSize > limit) throw tooLarge();
  let bytes = 0;
  let crc = 0;
  let stream: Readable | undefined;
  try {
    stream = await zip.openReadStreamPromise(entry);
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > limit) throw tooLarge();
      crc = crc32(chunk, crc);
      yield chunk;
    }
  } catch (error) {
    throw error instanceof CatError ? error : damagedWorkbook(name, `${part} is damaged`, error);
  } finally {
    stream?.destroy();
  }
  if (crc !== entry.crc32) throw damagedWorkbook(name, `${part} is damaged`);
}

export const encryptedWorkbook = (name: string): WorkbookError =>
  new WorkbookError(
    "encrypted_workbook",
    `${name} is protected with a password`,
    "Open it in Excel or LibreOffice, save a copy without the password, and use that.",
  );
