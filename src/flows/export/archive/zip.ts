// Reading ZIPs with yauzl, and the checks that it lacks.

import { isUtf8 } from "node:buffer";
import { close, open, read } from "node:fs";
import { promisify } from "node:util";
import { inflateRawSync } from "node:zlib";
import { type Entry, fromFdPromise, getFileNameLowLevel, type ZipFile } from "yauzl";
import { limits } from "../../../contract/limits.ts";
import { BadResponseError } from "../../../http/errors.ts";

/** Faults of an archive: the code of the error, the start of its sentence, and the next step. */
const faults = {
  not_a_zip: ["is not a ZIP file", "Run the command again to download it again."],
  damaged_zip: ["is damaged", "Run the command again to download it again."],
  unsupported_zip: [
    "cannot be read",
    "Use --out instead of --extract, and open the ZIP with another program.",
  ],
  unsafe_zip: [
    "is not safe to extract",
    "Nothing was extracted. Use --out instead of --extract, and check the ZIP with another program.",
  ],
} as const;

/** An artifact of the service that is not the ZIP it should be, or that must not be extracted: exit 7. */
export class ArchiveError extends BadResponseError {
  override readonly name = "ArchiveError";

  /** `archive` is its name in the message, `why` the end of the sentence. */
  constructor(code: keyof typeof faults, archive: string, why: string, cause?: unknown) {
    const [what, hint] = faults[code];
    super(`${archive} ${what}: ${why}`, { code, hint, cause });
  }
}

/** The name of an entry in messages; long names are cut, because one sentence must fit on a screen. */
export function shownEntry(name: string): string {
  const characters = Array.from(name);
  return characters.length <= 80 ? `"${name}"` : `"${characters.slice(0, 60).join("")}…"`;
}

export interface ZipEntry {
  readonly name: string;
  readonly kind: "file" | "folder" | "link" | "device";
  /** Bytes of the file, and their CRC-32, as the list of files declares them. */
  readonly size: number;
  readonly crc: number;
  /** Its bytes. Fails if there are more or fewer of them. */
  read(): AsyncIterable<Buffer>;
}

/** A ZIP whose list of files was checked. */
export interface Zip {
  /** Its name in messages. */
  readonly shown: string;
  readonly size: number;
  readonly entries: readonly ZipEntry[];
  close(): void;
}

/** Files of a ZIP at most: 20 photos per product of an export job, and images generated from them. */
const mostEntries = limits.exportProducts * 200;

/** Opens a ZIP and reads only its complete list of files. Throws an ArchiveError, or a system error. */
export async function openZip(path: string, shown: string, signal?: AbortSignal): Promise<Zip> {
  const fd = await openFile(path, "r");
  const zip = await zipOn(fd, shown).catch(async (error) => {
    await closeFile(fd);
    throw error;
  });
  try {
    return {
      shown,
      size: zip.fileSize,
      entries: await readList(zip, fd, shown, signal),
      close: () => zip.close(),
    };
  } catch (error) {
    zip.close();
    throw signal?.aborted ? error : asArchiveError(error, shown, "its list of files is invalid");
  }
}

async function zipOn(fd: number, shown: string): Promise<ZipFile> {
  // One that starts with anything else is another kind of file as well, and programs disagree about which.
  const { buffer } = await readFile(fd, Buffer.alloc(4), 0, 4, 0);
  if (!["PK\x03\x04", "PK\x05\x06"].includes(buffer.toString("latin1")))
    throw new ArchiveError("not_a_zip", shown, "it does not start like one");
  const options = { autoClose: false, decodeStrings: false };
  return fromFdPromise(fd, options).catch((error) => {
    throw asArchiveError(error, shown, "its end is missing, or other bytes follow it");
  });
}

const openFile = promisify(open);
const closeFile = promisify(close);
const readFile = promisify(read);

const pieceBytes = 1024 * 1024;

/** The bytes of an entry. Only large deflated ones get a stream: its readers take longer than a photo. */
async function* readEntry(zip: ZipFile, fd: number, entry: Entry): AsyncGenerator<Buffer> {
  const { compressionMethod, compressedSize, uncompressedSize } = entry;
  const isDeflated = compressionMethod === 8;
  if (isDeflated && Math.max(compressedSize, uncompressedSize) > pieceBytes) {
    yield* await zip.openReadStreamPromise(entry);
    return;
  }
  const { fileDataStart } = await zip.readLocalFileHeaderPromise(entry, { minimal: true });
  for (let done = 0; done < compressedSize; ) {
    const length = Math.min(pieceBytes, compressedSize - done);
    const piece = await readFile(fd, Buffer.allocUnsafe(length), 0, length, fileDataStart + done);
    if (piece.bytesRead < length) throw new Error("the ZIP ends early");
    done += length;
    yield isDeflated ? inflated(piece.buffer, uncompressedSize) : piece.buffer;
  }
}

function inflated(deflated: Buffer, size: number): Buffer {
  const bytes = inflateRawSync(deflated, { maxOutputLength: Math.max(1, size) });
  if (bytes.length === size) return bytes;
  throw new Error("its size is another one");
}

async function readList(zip: ZipFile, fd: number, shown: string, signal?: AbortSignal): Promise<ZipEntry[]> {
  if (zip.entryCount > mostEntries) {
    const why = `it has more than ${mostEntries.toLocaleString("en")} files`;
    throw new ArchiveError("unsupported_zip", shown, why);
  }
  const position = () => zip.readEntryCursor as unknown as number;
  const listAt = position();
  const entries: ZipEntry[] = [];
  for await (const entry of zip.eachEntry()) {
    signal?.throwIfAborted();
    const { fileNameRaw, extraFields, uncompressedSize, compressedSize, crc32 } = entry;
    const name = getFileNameLowLevel(nameFlags(entry), fileNameRaw, extraFields, true);
    const problem = unsupported(entry);
    if (problem !== null) throw new ArchiveError("unsupported_zip", shown, `${shownEntry(name)} ${problem}`);
    if (entry.relativeOffsetOfLocalHeader + headerLength + fileNameRaw.length + compressedSize > listAt)
      throw new ArchiveError("damaged_zip", shown, `${shownEntry(name)} is outside the ZIP`);
    const kind = entryKind(entry, name);
    entries.push({
      name,
      kind,
      size: uncompressedSize,
      crc: crc32,
      read: () => readEntry(zip, fd, entry),
    });
  }
  // yauzl reads as many entries as the end counts: more may follow, or bytes of another file.
  const end = zip.fileSize - endLength - zip.comment.length;
  if (![end, end - endLength64].includes(position()))
    throw new ArchiveError("damaged_zip", shown, "its list of files is incomplete");
  return entries;
}

/** Lengths of a file header, the end record and its two ZIP64 forms (APPNOTE 4.3.7, 4.3.14 to 4.3.16). */
const headerLength = 30;
const endLength = 22;
const endLength64 = 56 + 20;

/** Bits of the flags: encrypted, patched, encrypted list of files. */
const unsupportedFlags = 0x0001 | 0x0020 | 0x2000;

/** Why an entry cannot be read; null if it can. */
function unsupported({ generalPurposeBitFlag, compressionMethod }: Entry): string | null {
  if ((generalPurposeBitFlag & unsupportedFlags) !== 0) return "is encrypted";
  if (compressionMethod !== 0 && compressionMethod !== 8)
    return `is compressed with an unknown method (${compressionMethod})`;
  return null;
}

/** By the mode of Unix in the upper half of the attributes, and the marks of Windows in the lower one. */
function entryKind({ externalFileAttributes }: Entry, name: string): ZipEntry["kind"] {
  const type = (externalFileAttributes >>> 28) & 0xf;
  if (type === 0xa || (externalFileAttributes & 0x400) !== 0) return "link";
  if (type !== 0 && type !== 0x8 && type !== 0x4) return "device";
  return name.endsWith("/") || type === 0x4 ? "folder" : "file";
}

const namesAreUtf8 = 0x0800;

/** The flags of an entry; names that are valid UTF-8 count as flagged, because `zip` may omit the flag. */
const nameFlags = ({ fileNameRaw, generalPurposeBitFlag }: Entry): number =>
  isUtf8(fileNameRaw) ? generalPurposeBitFlag | namesAreUtf8 : generalPurposeBitFlag;

/** The error of yauzl or zlib; errors of the file system and of this program are passed on. */
export function asArchiveError(error: unknown, shown: string, why: string): unknown {
  const isOfFiles = (error as NodeJS.ErrnoException).syscall !== undefined;
  if (!(error instanceof Error) || isOfFiles) return error;
  const isTooLarge = (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE";
  if (error.constructor !== Error && !isTooLarge) return error;
  if (error.message.startsWith("multi-disk"))
    return new ArchiveError("unsupported_zip", shown, "it is one of several parts", error);
  return new ArchiveError("damaged_zip", shown, why, error);
}

/**
 * Checks that a ZIP is complete, and that this program could read each file (no encryption or parts); names
 * and bytes are not checked. Resolves to the number of files and their bytes. Throws an ArchiveError (exit
 * 7).
 */
export async function checkZip(
  path: string,
  { shown = path, signal }: { shown?: string; signal?: AbortSignal } = {},
): Promise<{ files: number; bytes: number }> {
  const { entries, close } = await openZip(path, shown, signal);
  close();
  const files = entries.filter(({ kind }) => kind === "file");
  return { files: files.length, bytes: files.reduce((sum, { size }) => sum + size, 0) };
}
