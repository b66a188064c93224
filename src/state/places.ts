import { endianness } from "node:os";

const isLittleEndian = endianness() === "LE";

/** Indexes (of rows, lines) as bytes: 4 each, little-endian on every machine. */
export function placesToBytes(places: Uint32Array): Buffer {
  const bytes = Buffer.from(places.buffer.slice(places.byteOffset, places.byteOffset + places.byteLength));
  return isLittleEndian ? bytes : bytes.swap32();
}

/** Decodes such bytes. */
export function placesFromBytes(bytes: Buffer): Uint32Array {
  const copy = Buffer.from(new Uint8Array(bytes).buffer);
  if (!isLittleEndian) copy.swap32();
  return new Uint32Array(copy.buffer, 0, copy.length / 4);
}
