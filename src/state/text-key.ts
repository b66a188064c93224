/** No byte of UTF-8: what follows is UTF-16. */
const utf16Mark = 0xff;
const loneSurrogate = /\p{Surrogate}/u;

/**
 * A text as bytes that are equal only for equal texts: as a TEXT, SQLite would cut it at a NUL, and the library make all
 * lone surrogates one character.
 */
export function toKey(text: string): Buffer {
  if (!loneSurrogate.test(text)) return Buffer.from(text, "utf8");
  return Buffer.concat([Buffer.of(utf16Mark), Buffer.from(text, "utf16le")]);
}

/** The text of a key. */
export const fromKey = (key: Buffer): string =>
  key[0] === utf16Mark ? key.toString("utf16le", 1) : key.toString("utf8");
