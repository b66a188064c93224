import { endianness } from "node:os";

/** Not a byte of UTF-8: marks a key in UTF-16. */
const utf16Mark = 0xff;
const loneSurrogate = /\p{Surrogate}/u;

/**
 * A text as bytes that are equal only for equal texts: SQLite would cut a TEXT at a NUL, and the library
 * would turn all lone surrogates into one character.
 */
export function toKey(text: string): Buffer {
  if (!loneSurrogate.test(text)) return Buffer.from(text, "utf8");
  return Buffer.concat([Buffer.of(utf16Mark), Buffer.from(text, "utf16le")]);
}

/** The text of a key. */
export const fromKey = (key: Buffer): string =>
  key[0] === utf16Mark ? key.toString("utf16le", 1) : key.toString("utf8");

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
