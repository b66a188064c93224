/** Bytes of a file name: the 255 that file systems take, less what a tool adds while a file is on its way. */
const longest = 200;

/** What a name may not hold somewhere: separators, signs that Windows keeps for itself, and what cannot be seen or turns text around. */
const unsafe = /[/\\:*?"<>|\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu;
/** Names that Windows keeps for devices, whatever comes after a dot. */
const device = /^(?:con|prn|aux|nul|com[0-9\u00b9\u00b2\u00b3]|lpt[0-9\u00b9\u00b2\u00b3]) *(?:\.|$)/i;

/**
 * A name that is a filename everywhere and never a path (ExportRow, suggested_filename): `stem` may be any text; `ending` is
 * kept whole when a long stem has to be cut, and is made of signs that need no care.
 */
export function safeFilename(stem: string, ending: string): string {
  const clean =
    stem
      .normalize("NFC")
      .replace(unsafe, "_")
      .replace(/^[.\s]+/, "_") || "_";
  const name = cut(clean, longest - bytesOf(ending)) + ending;
  return device.test(name) ? `_${name}` : name;
}

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

/** The beginning of a text that fits, without half a character at its end. */
function cut(text: string, bytes: number): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(Math.max(0, bytes)));
  return text.slice(0, read);
}
