import { readSync } from "node:fs";
import { ArchiveError } from "./archive-error.ts";

/** Where the list of files (the central directory) of a ZIP is, in bytes from its start, and how many entries it has. */
export interface ZipEnd {
  readonly directoryAt: number;
  readonly directoryEnd: number;
  readonly entries: number;
}

/** Signatures and lengths of the records at the end (APPNOTE 4.3.14 to 4.3.16). */
const end = { signature: 0x0605_4b50, length: 22 };
const locator = { signature: 0x0706_4b50, length: 20 };
const end64 = { signature: 0x0606_4b50, length: 56 };
const longestComment = 0xffff;

/**
 * Reads the end of a ZIP. The list of files must end where the end records start, and what both forms of the end
 * record say must agree: programs that read different ones would see different files. Throws ArchiveError.
 */
export function readZipEnd(fd: number, size: number, archive: string): ZipEnd {
  const damaged = (why: string) => new ArchiveError("damaged_zip", archive, why);
  const tail = readAt(fd, Math.min(size, end.length + longestComment + locator.length), size);
  const at = findEnd(tail);
  if (at === null) throw damaged("its end is missing");
  const endAt = size - tail.length + at;
  if (at + end.length + tail.readUInt16LE(at + 20) !== tail.length)
    throw damaged("other bytes follow its end");

  const plain: Numbers = {
    disks: [tail.readUInt16LE(at + 4), tail.readUInt16LE(at + 6)],
    entriesOfDisk: tail.readUInt16LE(at + 8),
    entries: tail.readUInt16LE(at + 10),
    bytes: tail.readUInt32LE(at + 12),
    directoryAt: tail.readUInt32LE(at + 16),
  };
  const locatorAt = at - locator.length;
  const is64 = locatorAt >= 0 && tail.readUInt32LE(locatorAt) === locator.signature;
  let numbers = plain;
  let directoryEnd = endAt;
  if (is64) {
    const wide = readEnd64(fd, tail.subarray(locatorAt, at), endAt - locator.length);
    if (wide === null || !agree(plain, wide.numbers)) throw damaged("its two end records do not agree");
    ({ numbers, at: directoryEnd } = wide);
  }
  if (numbers.disks.some((disk) => disk !== 0) || numbers.entriesOfDisk !== numbers.entries)
    throw new ArchiveError("unsupported_zip", archive, "it is one of several parts");
  if (numbers.directoryAt + numbers.bytes !== directoryEnd) throw damaged("its list of files is incomplete");
  return { directoryAt: numbers.directoryAt, directoryEnd, entries: numbers.entries };
}

interface Numbers {
  disks: number[];
  entriesOfDisk: number;
  entries: number;
  /** The length of the list of files. */
  bytes: number;
  directoryAt: number;
}

/** The last end record: a comment may follow it. */
function findEnd(tail: Buffer): number | null {
  for (let at = tail.length - end.length; at >= 0; at--)
    if (tail[at] === 0x50 && tail.readUInt32LE(at) === end.signature) return at;
  return null;
}

/** The ZIP64 end record, which must be right before its locator; null if it is not. */
function readEnd64(fd: number, found: Buffer, locatorAt: number): { numbers: Numbers; at: number } | null {
  const at = toNumber(found.readBigUInt64LE(8));
  if (at + end64.length > locatorAt || found.readUInt32LE(4) !== 0 || found.readUInt32LE(16) > 1) return null;
  const record = readAt(fd, end64.length, at + end64.length);
  if (record.length < end64.length || record.readUInt32LE(0) !== end64.signature) return null;
  if (at + 12 + toNumber(record.readBigUInt64LE(4)) !== locatorAt) return null;
  const numbers = {
    disks: [record.readUInt32LE(16), record.readUInt32LE(20)],
    entriesOfDisk: toNumber(record.readBigUInt64LE(24)),
    entries: toNumber(record.readBigUInt64LE(32)),
    bytes: toNumber(record.readBigUInt64LE(40)),
    directoryAt: toNumber(record.readBigUInt64LE(48)),
  };
  return { numbers, at };
}

/** Whether each number of the plain record is that of the ZIP64 one, or refers to it. */
const agree = (plain: Numbers, wide: Numbers): boolean =>
  (plain.entries === 0xffff || plain.entries === wide.entries) &&
  (plain.bytes === 0xffff_ffff || plain.bytes === wide.bytes) &&
  (plain.directoryAt === 0xffff_ffff || plain.directoryAt === wide.directoryAt);

/** Numbers over 2^53 are larger than any file. */
const toNumber = (value: bigint): number =>
  value > BigInt(Number.MAX_SAFE_INTEGER) ? Number.POSITIVE_INFINITY : Number(value);

/** The bytes before a position. */
function readAt(fd: number, length: number, before: number): Buffer {
  const buffer = Buffer.alloc(length);
  return buffer.subarray(0, readSync(fd, buffer, 0, length, before - length));
}
