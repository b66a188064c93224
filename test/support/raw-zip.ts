import { crc32, deflateRawSync } from "node:zlib";

/** What the two headers of an entry say; each field can be a lie. */
interface Header {
  signature?: number;
  name?: string | Buffer;
  flags?: number;
  method?: number;
  crc?: number;
  /** Bytes in the ZIP, and of the file. */
  stored?: number;
  size?: number;
  extra?: Buffer;
}

export interface RawEntry extends Header {
  name: string | Buffer;
  data?: string | Buffer;
  deflate?: boolean;
  /** The bytes in the ZIP, if not those of `data`. */
  raw?: Buffer;
  /** The system in the upper byte (3: Unix), and the attributes; `mode` is that of Unix. */
  madeBy?: number;
  mode?: number;
  attributes?: number;
  /** Where the list says that the header is. */
  at?: number;
  /** Where the header of the file differs from the list; `none` leaves the entry's bytes out. */
  local?: Header | "none";
  /** Bytes after those of the file, e.g. a data descriptor. */
  after?: Buffer;
}

export interface RawEnd {
  comment?: Buffer;
  disk?: number;
  entriesOfDisk?: number;
  entries?: number;
  directoryBytes?: number;
  directoryAt?: number;
  /** Adds the ZIP64 records; the fields are those of its end record. */
  zip64?: { entries?: number; directoryAt?: number; disk?: number; recordAt?: number } | undefined;
  /** Bytes before everything, counted in all positions; between the list and the end; and after the end. */
  prefix?: Buffer;
  between?: Buffer;
  suffix?: Buffer;
}

const utf8 = 0x0800;

/** A ZIP made byte by byte (APPNOTE 6.3.10), honest unless told otherwise. */
export function rawZip(entries: readonly RawEntry[], end: RawEnd = {}): Buffer {
  const parts: Buffer[] = [end.prefix ?? Buffer.alloc(0)];
  let at = parts[0]!.length;
  const put = (...bytes: Buffer[]) => {
    parts.push(...bytes);
    for (const { length } of bytes) at += length;
  };
  const list: Buffer[] = [];
  for (const entry of entries) {
    const data = Buffer.from(entry.data ?? "");
    const raw = entry.raw ?? (entry.deflate ? deflateRawSync(data) : data);
    const own = {
      signature: 0x0201_4b50,
      flags: utf8,
      method: entry.deflate ? 8 : 0,
      crc: crc32(data),
      stored: raw.length,
      size: data.length,
      extra: Buffer.alloc(0),
      ...given(entry),
    } as Required<Header>;
    const attributes = entry.attributes ?? ((entry.mode ?? 0o100644) << 16) >>> 0;
    list.push(central(own, { madeBy: entry.madeBy ?? 0x033f, attributes, at: entry.at ?? at }));
    if (entry.local === "none") continue;
    const local = { ...own, signature: 0x0403_4b50, extra: Buffer.alloc(0), ...given(entry.local ?? {}) };
    put(localHeader(local as Required<Header>), raw, entry.after ?? Buffer.alloc(0));
  }
  const directoryAt = at;
  put(...list);
  const directoryBytes = at - directoryAt;
  put(end.between ?? Buffer.alloc(0));
  if (end.zip64 !== undefined)
    put(...end64(end.zip64, { at, directoryAt, directoryBytes, entries: list.length }));
  const comment = end.comment ?? Buffer.alloc(0);
  put(
    record(
      [4, 0x0605_4b50],
      [2, end.disk ?? 0],
      [2, end.disk ?? 0],
      [2, end.entriesOfDisk ?? end.entries ?? list.length],
      [2, end.entries ?? list.length],
      [4, end.directoryBytes ?? directoryBytes],
      [4, end.directoryAt ?? directoryAt],
      [2, comment.length],
    ),
    comment,
    end.suffix ?? Buffer.alloc(0),
  );
  return Buffer.concat(parts);
}

/** The fields of a header that were given. */
const given = ({ signature, name, flags, method, crc, stored, size, extra }: Header): Header =>
  Object.fromEntries(
    Object.entries({ signature, name, flags, method, crc, stored, size, extra }).filter(
      ([, value]) => value !== undefined,
    ),
  );

const localHeader = (header: Required<Header>): Buffer => {
  const name = Buffer.from(header.name as string);
  return Buffer.concat([
    record([4, header.signature], [2, 20], ...shared(header), [2, name.length], [2, header.extra.length]),
    name,
    header.extra,
  ]);
};

const central = (
  header: Required<Header>,
  { madeBy, attributes, at }: { madeBy: number; attributes: number; at: number },
): Buffer => {
  const name = Buffer.from(header.name as string);
  return Buffer.concat([
    record(
      [4, header.signature],
      [2, madeBy],
      [2, 20],
      ...shared(header),
      [2, name.length],
      [2, header.extra.length],
      [2, 0],
      [2, 0],
      [2, 0],
      [4, attributes],
      [4, at],
    ),
    name,
    header.extra,
  ]);
};

const shared = ({ flags, method, crc, stored, size }: Required<Header>): Field[] => [
  [2, flags],
  [2, method],
  [2, 0],
  [2, 0x21],
  [4, crc],
  [4, stored],
  [4, size],
];

const end64 = (
  { entries, directoryAt, disk = 0, recordAt }: NonNullable<RawEnd["zip64"]>,
  real: { at: number; directoryAt: number; directoryBytes: number; entries: number },
): Buffer[] => [
  record(
    [4, 0x0606_4b50],
    [8, 44],
    [2, 0x033f],
    [2, 45],
    [4, disk],
    [4, disk],
    [8, entries ?? real.entries],
    [8, entries ?? real.entries],
    [8, real.directoryBytes],
    [8, directoryAt ?? real.directoryAt],
  ),
  record([4, 0x0706_4b50], [4, 0], [8, recordAt ?? real.at], [4, 1]),
];

/** The ZIP64 field of an entry in the list: sizes, and the position of its header. */
export const extra64 = (...numbers: number[]): Buffer =>
  record([2, 1], [2, numbers.length * 8], ...numbers.map((number): Field => [8, number]));

/** Info-ZIP's field with another name for an entry. */
export const unicodePath = (name: string, other: string): Buffer => {
  const bytes = Buffer.from(other);
  return Buffer.concat([
    record([2, 0x7075], [2, bytes.length + 5], [1, 1], [4, crc32(Buffer.from(name))]),
    bytes,
  ]);
};

type Field = readonly [bytes: 1 | 2 | 4 | 8, value: number];

/** Numbers, little-endian. */
function record(...fields: Field[]): Buffer {
  const bytes = Buffer.alloc(fields.reduce((sum, [width]) => sum + width, 0));
  let at = 0;
  for (const [width, value] of fields) {
    if (width === 8) bytes.writeBigUInt64LE(BigInt(value), at);
    else bytes.writeUIntLE(value, at, width);
    at += width;
  }
  return bytes;
}
