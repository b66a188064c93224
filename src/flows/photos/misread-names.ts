// Names of files that a program has read in the wrong code page, as when a ZIP is unpacked.
import { dosPages, upperHalf } from "../rows/code-pages.ts";

/** The letters of bytes 128 to 255 in the code pages that UTF-8 is taken for, the likely ones first. */
const codePages = (): readonly string[] => {
  // Words such as рок would be letters of other scripts.
  const russian = upperHalf("ibm866").replace(/[р-я]/g, "\0");
  const { cp437, cp850 } = dosPages;
  return [upperHalf("windows-1252"), cp437, cp850, upperHalf("macintosh"), russian];
};

let known: readonly ReadonlyMap<string, number>[] | undefined;

/** A file name whose UTF-8 was read otherwise, as `Größe.jpg` for `Gr├╢├ƒe.jpg`; else null. */
export function repairedName(name: string): string | null {
  if (!/[\u0080-\uffff]/.test(name)) return null;
  known ??= codePages().map((page) => new Map(Array.from(page, (letter, index) => [letter, index + 128])));
  for (const page of known) {
    const bytes: number[] = [];
    for (const letter of name) {
      const byte = letter < "\u0080" ? letter.charCodeAt(0) : page.get(letter);
      if (byte === undefined) break;
      bytes.push(byte);
    }
    if (bytes.length < name.length) continue;
    const text = utf8(Uint8Array.from(bytes));
    if (text !== null) return text;
  }
  return null;
}

function utf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Node shows each byte that is not UTF-8 so; no path finds such a file. */
const unreadable = "\ufffd";

/** Why the name of a file is not what it was, and what to do, as it follows the name; null if it is. */
export function misreadName(name: string): string | null {
  if (name.includes(unreadable)) return "is not UTF-8: rename the file";
  const meant = repairedName(name);
  if (meant === null) return null;
  return `was unpacked in the wrong code page, and is ${JSON.stringify(meant)}: unpack the ZIP with another program, or rename the file`;
}

/** A name as far as it is the same in all code pages; null for a name that was read right. */
export const knownPart = (name: string): string | null =>
  name.includes(unreadable) ? withoutLetters(name) : null;

/** A name in which letters beyond ASCII are not told apart. */
export const withoutLetters = (name: string): string =>
  name
    .normalize("NFC")
    .replace(/[^\0-\x7f]+/g, unreadable)
    .toLowerCase();
