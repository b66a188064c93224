/** A file of a ZIP. */
export interface ZipFile {
  /** The name in the ZIP: no path, at most 65,535 bytes. */
  readonly name: string;
  /** Under 4 GB, like every image. */
  readonly size: number;
  /** CRC-32 of the bytes. */
  readonly crc: number;
}

/** A section of a ZIP: headers, or the bytes of the file with that index. */
export type ZipPart = { readonly at: number; readonly size: number } & (
  | { readonly bytes: Buffer; readonly file?: never }
  | { readonly file: number; readonly bytes?: never }
);

/** The layout of a complete ZIP, without the bytes of its files. */
export interface ZipLayout {
  readonly size: number;
  readonly parts: readonly ZipPart[];
}

/** The largest value of 4-byte fields; the next one means "see the ZIP64 field". */
const largest32 = 0xffff_fffe;
const see64 = 0xffff_ffff;
const largestCount = 0xfffe;
/** ZIP version needed to read an entry: 2.0, or 4.5 for ZIP64. */
const [plain, zip64] = [20, 45];
const madeBy = (3 << 8) | 63;
const namesAreUtf8 = 1 << 11;
const mode = 0o100664;

/**
 * Computes the layout of a ZIP of stored (uncompressed) files before writing it (APPNOTE 6.3.10, 4.3). Sizes
 * and checksums precede each file, so the ZIP can be read as a stream, and any range can be served without
 * reading the rest. ZIP64 fields appear if a number needs them, or everywhere (`force64`). `modified` is in
 * milliseconds. The bytes are the same on every machine.
 */
export function layOut(files: readonly ZipFile[], modified: number, force64 = false): ZipLayout {
  const parts: ZipPart[] = [];
  let size = 0;
  const put = (part: { size: number } & ({ bytes: Buffer } | { file: number })) => {
    parts.push({ ...part, at: size });
    size += part.size;
  };
  const stamp = stampOf(modified);
  const directory: Buffer[] = [];
  for (const [index, file] of files.entries()) {
    directory.push(directoryEntry(file, stamp, size, force64));
    const header = localHeader(file, stamp);
    put({ size: header.length, bytes: header });
    put({ size: file.size, file: index });
  }
  const end = Buffer.concat([...directory, endOf(files.length, size, lengthOf(directory), force64)]);
  put({ size: end.length, bytes: end });
  return { size, parts };
}

interface Stamp {
  readonly time: number;
  readonly date: number;
  readonly seconds: number;
}

/**
 * The time in DOS format (without a time zone; UTC here) and in Unix seconds, clamped to the range of both.
 */
function stampOf(modified: number): Stamp {
  const moment = new Date(
    Math.min(Math.max(modified, Date.UTC(1980, 0, 1)), Date.UTC(2107, 11, 31, 23, 59, 58)),
  );
  const day = moment.getUTCDate() | ((moment.getUTCMonth() + 1) << 5);
  return {
    date: day | ((moment.getUTCFullYear() - 1980) << 9),
    time: (moment.getUTCSeconds() >> 1) | (moment.getUTCMinutes() << 5) | (moment.getUTCHours() << 11),
    seconds: Math.min(Math.floor(moment.getTime() / 1000), 0x7fff_ffff),
  };
}

const shared = ({ time, date }: Stamp, { crc }: ZipFile): Field[] => [
  [2, namesAreUtf8],
  [2, 0], // stored
  [2, time],
  [2, date],
  [4, crc],
];

function localHeader(file: ZipFile, stamp: Stamp): Buffer {
  const name = Buffer.from(file.name);
  const fields: Field[] = [
    [4, 0x0403_4b50],
    [2, plain],
    ...shared(stamp, file),
    [4, file.size],
    [4, file.size],
    [2, name.length],
    [2, 0],
  ];
  return Buffer.concat([record(fields), name]);
}

function directoryEntry(file: ZipFile, stamp: Stamp, at: number, force64: boolean): Buffer {
  const name = Buffer.from(file.name);
  const is64 = force64 || at > largest32;
  // Info-ZIP's extended timestamp (UTC), then the ZIP64 numbers if needed.
  const times = record([
    [2, 0x5455],
    [2, 5],
    [1, 3],
    [4, stamp.seconds],
  ]);
  const numbers = record([
    [2, 1],
    [2, 24],
    [8, file.size],
    [8, file.size],
    [8, at],
  ]);
  const extra = is64 ? Buffer.concat([times, numbers]) : times;
  const fields: Field[] = [
    [4, 0x0201_4b50],
    [2, madeBy],
    [2, is64 ? zip64 : plain],
    ...shared(stamp, file),
    [4, is64 ? see64 : file.size],
    [4, is64 ? see64 : file.size],
    [2, name.length],
    [2, extra.length],
    [2, 0],
    [2, 0],
    [2, 0],
    [4, mode * 0x1_0000],
    [4, is64 ? see64 : at],
  ];
  return Buffer.concat([record(fields), name, extra]);
}

/** The end of the directory that starts at `at`. */
function endOf(count: number, at: number, size: number, force64: boolean): Buffer {
  const is64 = force64 || count > largestCount || at > largest32 || size > largest32;
  const or64 = (value: number, largest: number) => (force64 || value > largest ? largest + 1 : value);
  const plainEnd = record([
    [4, 0x0605_4b50],
    [2, 0],
    [2, 0],
    [2, or64(count, largestCount)],
    [2, or64(count, largestCount)],
    [4, or64(size, largest32)],
    [4, or64(at, largest32)],
    [2, 0],
  ]);
  if (!is64) return plainEnd;
  const end64 = record([
    [4, 0x0606_4b50],
    [8, 44],
    [2, madeBy],
    [2, zip64],
    [4, 0],
    [4, 0],
    [8, count],
    [8, count],
    [8, size],
    [8, at],
  ]);
  const locator = record([
    [4, 0x0706_4b50],
    [4, 0],
    [8, at + size],
    [4, 1],
  ]);
  return Buffer.concat([end64, locator, plainEnd]);
}

type Field = readonly [bytes: 1 | 2 | 4 | 8, value: number];

/** Concatenates numbers, little-endian. */
function record(fields: readonly Field[]): Buffer {
  const bytes = Buffer.alloc(fields.reduce((sum, [width]) => sum + width, 0));
  let at = 0;
  for (const [width, value] of fields) {
    if (width === 8) bytes.writeBigUInt64LE(BigInt(value), at);
    else bytes.writeUIntLE(value, at, width);
    at += width;
  }
  return bytes;
}

const lengthOf = (buffers: readonly Buffer[]): number => buffers.reduce((sum, { length }) => sum + length, 0);
