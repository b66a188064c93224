import { isUtf8 } from "node:buffer";
import { readSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import { inflateRawSync } from "node:zlib";
import { type Entry, fromRandomAccessReaderPromise, getFileNameLowLevel } from "yauzl";
import { ArchiveError, shownEntry } from "./archive-error.ts";
import { archiveLimits } from "./archive-limits.ts";
import { DirectoryReader } from "./directory-reader.ts";
import { readZipEnd } from "./zip-end.ts";

/** One entry of a ZIP, with all that is needed to write its bytes. */
export interface ZipEntry {
  readonly name: string;
  readonly kind: "file" | "folder" | "link" | "device";
  /** Where its bytes start in the ZIP, and how many there are. */
  readonly at: number;
  readonly stored: number;
  /** Bytes of the file, and their CRC-32. */
  readonly size: number;
  readonly crc: number;
  readonly isDeflated: boolean;
}

/** Bits of the flags: encrypted, patched, strong encryption, encrypted list of files. */
const unsupportedFlags = 0x0001 | 0x0020 | 0x0040 | 0x2000;
const sizesFollow = 0x0008;
const localHeader = { signature: 0x0403_4b50, length: 30 };
const see64 = 0xffff_ffff;
/** How many entries are read before other work gets a turn. */
const perTurn = 500;

/**
 * Reads the list of files of a ZIP and the header of each file, in the order of the list. Both must agree, and no two
 * entries may share bytes: that is how small archives claim to hold much. Throws ArchiveError.
 */
export async function readEntries(
  fd: number,
  { size, archive, signal }: { size: number; archive: string; signal?: AbortSignal | undefined },
): Promise<ZipEntry[]> {
  const damaged = (why: string, cause?: unknown) => new ArchiveError("damaged_zip", archive, why, cause);
  const { directoryAt, directoryEnd, entries: count } = readZipEnd(fd, size, archive);
  if (count > archiveLimits.entries) {
    const why = `it has more than ${archiveLimits.entriesText} files`;
    throw new ArchiveError("unsupported_zip", archive, why);
  }
  const entries: ZipEntry[] = [];
  const taken: Span[] = [];
  let listed = directoryAt;
  const listDamaged = (error: unknown) => damaged("its list of files is invalid", error);
  const zip = await fromRandomAccessReaderPromise(new DirectoryReader(fd), size, {
    autoClose: false,
    decodeStrings: false,
  }).catch((error) => {
    throw listDamaged(error);
  });
  const each = zip.eachEntry()[Symbol.asyncIterator]();
  for (;;) {
    const next = await each.next().catch((error) => {
      throw listDamaged(error);
    });
    if (next.done) break;
    const entry = next.value;
    listed += 46 + entry.fileNameLength + entry.extraFieldLength + entry.fileCommentLength;
    const name = getFileNameLowLevel(nameFlags(entry), entry.fileNameRaw, entry.extraFields, true);
    const problem = unsupported(entry);
    if (problem !== null)
      throw new ArchiveError("unsupported_zip", archive, `${shownEntry(name)} ${problem}`);
    const from = entry.relativeOffsetOfLocalHeader;
    const at = readLocal(fd, entry, directoryAt);
    if (typeof at === "string") throw damaged(`${shownEntry(name)} ${at}`);
    taken.push({ from, to: at + entry.compressedSize, name });
    const kind = kindOf(entry, name);
    entries.push({
      name: hasControls(entry.fileNameRaw) ? plainName(entry) : name,
      kind,
      at,
      stored: kind === "folder" && inflatesToNothing(fd, entry, at) ? 0 : entry.compressedSize,
      size: entry.uncompressedSize,
      crc: entry.crc32,
      isDeflated: entry.compressionMethod === 8,
    });
    if (entries.length % perTurn === 0) {
      await turn();
      signal?.throwIfAborted();
    }
  }
  if (listed !== directoryEnd) throw damaged("its list of files is incomplete");
  const shared = overlapping(taken);
  if (shared !== null) throw damaged(`${shownEntry(shared)} shares bytes with another file`);
  return entries;
}

interface Span {
  from: number;
  to: number;
  name: string;
}

/** Why an entry cannot be read; null if it can. */
function unsupported({ generalPurposeBitFlag, compressionMethod }: Entry): string | null {
  if ((generalPurposeBitFlag & unsupportedFlags) !== 0) return "is encrypted";
  if (compressionMethod !== 0 && compressionMethod !== 8)
    return `is compressed with an unknown method (${compressionMethod})`;
  return null;
}

/** Where the bytes of an entry start, by its own header; or the problem of that header. */
function readLocal(fd: number, entry: Entry, directoryAt: number): number | string {
  const from = entry.relativeOffsetOfLocalHeader;
  const head = Buffer.alloc(localHeader.length + entry.fileNameLength);
  if (from + head.length > directoryAt || readSync(fd, head, 0, head.length, from) < head.length)
    return "is outside the ZIP";
  if (head.readUInt32LE(0) !== localHeader.signature) return "has no header";
  const flags = head.readUInt16LE(6);
  const isSame =
    head.readUInt16LE(26) === entry.fileNameLength &&
    head.subarray(localHeader.length).equals(entry.fileNameRaw) &&
    head.readUInt16LE(8) === entry.compressionMethod &&
    (flags & unsupportedFlags) === 0 &&
    // Written as a stream, the numbers come after the bytes.
    ((flags & sizesFollow) !== 0 ||
      (head.readUInt32LE(14) === entry.crc32 &&
        [see64, entry.compressedSize].includes(head.readUInt32LE(18)) &&
        [see64, entry.uncompressedSize].includes(head.readUInt32LE(22))));
  if (!isSame) return "has a header that differs from the list of files";
  const at = from + head.length + head.readUInt16LE(28);
  return at + entry.compressedSize > directoryAt ? "is outside the ZIP" : at;
}

/** By the mode of Unix in the upper half of the attributes, and the marks of Windows in the lower one. */
function kindOf({ externalFileAttributes }: Entry, name: string): ZipEntry["kind"] {
  const type = (externalFileAttributes >>> 28) & 0xf;
  if (type === 0xa || (externalFileAttributes & 0x400) !== 0) return "link";
  if (type !== 0 && type !== 0x8 && type !== 0x4) return "device";
  return name.endsWith("/") || type === 0x4 ? "folder" : "file";
}

/** More bytes than any program compresses nothing to. */
const mostOfNothing = 64;

/** Whether an entry is nothing, compressed: Python writes folders like this. */
function inflatesToNothing(fd: number, entry: Entry, at: number): boolean {
  const { compressionMethod, compressedSize, uncompressedSize, crc32 } = entry;
  if (compressionMethod !== 8 || uncompressedSize !== 0 || crc32 !== 0) return false;
  if (compressedSize > mostOfNothing) return false;
  const bytes = Buffer.alloc(compressedSize);
  try {
    return (
      readSync(fd, bytes, 0, bytes.length, at) === bytes.length &&
      inflateRawSync(bytes, { maxOutputLength: 1 }).length === 0
    );
  } catch {
    return false;
  }
}

const namesAreUtf8 = 0x0800;

/** The flags of an entry; names that are valid UTF-8 count as flagged, because `zip` may omit the flag. */
const nameFlags = ({ fileNameRaw, generalPurposeBitFlag }: Entry): number =>
  isUtf8(fileNameRaw) ? generalPurposeBitFlag | namesAreUtf8 : generalPurposeBitFlag;

/** The name by its bytes alone. */
const plainName = (entry: Entry): string =>
  entry.fileNameRaw.toString((nameFlags(entry) & namesAreUtf8) !== 0 ? "utf8" : "latin1");

/** The old character set shows control characters as pictures, and hides them from the check of names. */
const hasControls = (name: Buffer): boolean => name.some((byte) => byte < 0x20 || byte === 0x7f);

/** The name of an entry with bytes of another; null if there is none. */
function overlapping(spans: Span[]): string | null {
  spans.sort((a, b) => a.from - b.from);
  const at = spans.findIndex(({ from }, index) => index > 0 && spans[index - 1]!.to > from);
  return at === -1 ? null : spans[at]!.name;
}
