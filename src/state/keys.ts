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

/** Indexes (of rows, lines) as bytes: 4 each. */
export const placesToBytes = (places: Uint32Array): Buffer =>
  Buffer.from(places.buffer, places.byteOffset, places.byteLength);

/** Decodes such bytes. */
export const placesFromBytes = (bytes: Buffer): Uint32Array => new Uint32Array(new Uint8Array(bytes).buffer);
