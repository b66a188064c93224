export interface ZipFile {
  /** The name in the ZIP: no path, at most 65,535 bytes. */
  readonly name: string;
  /** Under 4 GB, like every image. */
  readonly size: number;
  readonly crc: number;
}

/** A section of a ZIP: headers, or the bytes of the file with that index. */
type ZipPart = { readonly at: number; readonly size: number } & (
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
const stored = 0;

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
  const stamp = toStamp(modified);
  const directory: Buffer[] = [];
  for (const [index, file] of files.entries()) {
    directory.push(directoryEntry(file, stamp, size, force64));
    const header = localHeader(file, stamp);
    put({ size: header.length, bytes: header });
    put({ size: file.size, file: index });
  }
  const directorySize = directory.reduce((sum, { length }) => sum + length, 0);
  const end = Buffer.concat([...directory, directoryEnd(files.length, size, directorySize, force64)]);
  put({ size: end.length, bytes: end });
  return { size, parts };
}

interface Stamp {
  readonly time: number;
  readonly date: number;
  readonly seconds: number;
}

/** The time in DOS format (UTC here) and in Unix seconds, clamped to the range of both. */
function toStamp(modified: number): Stamp {
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

const shared = ({ time, date }: Stamp, { crc }: ZipFile): Buffer =>
  Buffer.concat([u16(namesAreUtf8, stored, time, date), u32(crc)]);

function localHeader(file: ZipFile, stamp: Stamp): Buffer {
  const name = Buffer.from(file.name);
  return Buffer.concat([
    u32(0x0403_4b50),
    u16(plain),
    shared(stamp, file),
    u32(file.size, file.size),
    u16(name.length, 0),
    name,
  ]);
}

function directoryEntry(file: ZipFile, stamp: Stamp, at: number, force64: boolean): Buffer {
  const name = Buffer.from(file.name);
  const is64 = force64 || at > largest32;
  // Info-ZIP's extended timestamp (UTC), then the ZIP64 numbers if needed.
  const times = Buffer.concat([u16(0x5455, 5), Buffer.of(3), u32(stamp.seconds)]);
  const numbers = Buffer.concat([u16(1, 24), u64(file.size, file.size, at)]);
  const extra = is64 ? Buffer.concat([times, numbers]) : times;
  const size = is64 ? see64 : file.size;
  return Buffer.concat([
    u32(0x0201_4b50),
    u16(madeBy, is64 ? zip64 : plain),
    shared(stamp, file),
    u32(size, size),
    u16(name.length, extra.length, 0, 0, 0),
    u32(mode * 0x1_0000, is64 ? see64 : at),
    name,
    extra,
  ]);
}

function directoryEnd(count: number, at: number, size: number, force64: boolean): Buffer {
  const is64 = force64 || count > largestCount || at > largest32 || size > largest32;
  const or64 = (value: number, largest: number) => (force64 || value > largest ? largest + 1 : value);
  const shortCount = or64(count, largestCount);
  const end = Buffer.concat([
    u32(0x0605_4b50),
    u16(0, 0, shortCount, shortCount),
    u32(or64(size, largest32), or64(at, largest32)),
    u16(0),
  ]);
  if (!is64) return end;
  const end64 = [u32(0x0606_4b50), u64(44), u16(madeBy, zip64), u32(0, 0), u64(count, count, size, at)];
  const locator = [u32(0x0706_4b50, 0), u64(at + size), u32(1)];
  return Buffer.concat([...end64, ...locator, end]);
}

// Numbers of 2, 4 and 8 bytes, little-endian on every machine.
const u16 = (...values: number[]): Buffer => numbers(2, values);
const u32 = (...values: number[]): Buffer => numbers(4, values);
const u64 = (...values: number[]): Buffer => numbers(8, values);

function numbers(width: 2 | 4 | 8, values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * width);
  for (const [index, value] of values.entries()) {
    if (width === 8) bytes.writeBigUInt64LE(BigInt(value), index * width);
    else bytes.writeUIntLE(value, index * width, width);
  }
  return bytes;
}
