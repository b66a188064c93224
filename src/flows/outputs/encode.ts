/** Encodings with escape sequences or four bytes a character: the decoder's table cannot be turned round. */
const notWritable: ReadonlySet<string> = new Set(["iso-2022-jp", "gb18030"]);

/** Whether text can be written in an encoding, by the name that `TextDecoder` has for it. */
export const canEncode = (encoding: string): boolean => !notWritable.has(encoding);

/**
 * Text as bytes in an encoding for which `canEncode`; a character that it does not have goes as `missing` tells. It is the
 * decoder's own table turned round, so that what was read comes back as it was: tables of others differ from it in the euro
 * sign of the Macintosh, in characters of one's own in Japanese and Chinese, in bytes that an encoding leaves open.
 */
export function encoderOf(
  encoding: string,
  missing: (character: string) => string,
): (text: string) => Buffer {
  if (encoding === "utf-8") return (text) => Buffer.from(text, "utf8");
  if (encoding === "utf-16le") return (text) => Buffer.from(text, "utf16le");
  if (encoding === "utf-16be") return (text) => Buffer.from(text, "utf16le").swap16();
  const codes = codesOf(encoding);
  const isThere = (character: string) => codes.has(character.codePointAt(0)!);
  return (text) => {
    const characters = Array.from(text);
    const known = characters.every(isThere)
      ? characters
      : characters.flatMap((character) => (isThere(character) ? character : Array.from(missing(character))));
    const bytes = Buffer.allocUnsafe(known.length * longestCode);
    let end = 0;
    for (const character of known) {
      const code = codes.get(character.codePointAt(0)!)!;
      const length = code > 0xffff ? 3 : code > 0xff ? 2 : 1;
      end = bytes.writeUIntBE(code, end, length);
    }
    return bytes.subarray(0, end);
  };
}

/** How many bytes a character takes at most: three in EUC-JP. */
const longestCode = 3;

/** The bytes of every character, as one number each. Takes a tenth of a second for an encoding of two bytes a character. */
function codesOf(encoding: string): ReadonlyMap<number, number> {
  const decoder = new TextDecoder(encoding);
  const codes = new Map<number, number>();
  /** Whether the bytes are one character. Of several ways to write it the first is kept. */
  const add = (...bytes: number[]): boolean => {
    // The second call ends what the first began; alone, it would be read by another table (see text.ts).
    const text = decoder.decode(Uint8Array.from(bytes), { stream: true }) + decoder.decode();
    const code = text.codePointAt(0);
    if (code === undefined || text.includes("\ufffd") || String.fromCodePoint(code) !== text) return false;
    if (!codes.has(code)) codes.set(code, Buffer.from(bytes).readUIntBE(0, bytes.length));
    return true;
  };
  for (let byte = 0; byte < 0x100; byte++) {
    if (add(byte) || byte < 0x80) continue;
    for (let second = 0x30; second < 0x100; second++) {
      if (add(byte, second) || second < 0x80 || byte !== 0x8f || encoding !== "euc-jp") continue;
      for (let third = 0xa1; third < 0xff; third++) add(byte, second, third);
    }
  }
  return codes;
}
