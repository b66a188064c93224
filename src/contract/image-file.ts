import { startInBytes, startOf } from "../text.ts";
import type { imageTypes } from "./value-sets.ts";

/** Number of leading bytes that `detectImageType` needs. */
export const imageTypeBytes = 12;

/** The image type found in the first bytes, or null. A declared type never counts (Image). */
export function detectImageType(bytes: Uint8Array): (typeof imageTypes)[number] | null {
  if (startsWith(bytes, 0, [0xff, 0xd8, 0xff])) return "image/jpeg";
  if (startsWith(bytes, 0, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return "image/png";
  const riff = startsWith(bytes, 0, [0x52, 0x49, 0x46, 0x46]);
  if (riff && startsWith(bytes, 8, [0x57, 0x45, 0x42, 0x50])) return "image/webp";
  return null;
}

/** Extensions by image type (ExportRow, suggested_filename). */
export const imageExtensions: Readonly<Record<(typeof imageTypes)[number], string>> = {
  "image/jpeg": ".jpg",
  "image/png": ".png",
  "image/webp": ".webp",
};

/** The type, by its first bytes, of an image that must be converted for the service; or null. */
export function detectForeignType(bytes: Uint8Array): "TIFF" | "AVIF" | "GIF" | "BMP" | null {
  const starts = (at: number, text: string) => startsWith(bytes, at, new TextEncoder().encode(text));
  if (["II*\0", "MM\0*", "II+\0", "MM\0+"].some((start) => starts(0, start))) return "TIFF";
  if (starts(4, "ftypavif") || starts(4, "ftypavis")) return "AVIF";
  if (starts(0, "GIF8")) return "GIF";
  return starts(0, "BM") && starts(6, "\0\0\0\0") ? "BMP" : null;
}

/** Whether a file is a photo of an iPhone, by its first bytes: no library that is free to use reads it. */
export const isHeic = (bytes: Uint8Array): boolean =>
  startsWith(bytes, 4, new TextEncoder().encode("ftyphe")) &&
  /^(?:ic|ix|vc|vx|im|is)$/.test(String.fromCharCode(...bytes.subarray(10, 12)));

const startsWith = (bytes: Uint8Array, at: number, expected: ArrayLike<number>): boolean =>
  Array.from(expected).every((byte, index) => bytes[at + index] === byte);

/** Maximum bytes: the 255 of most file systems, minus room for a suffix during a download. */
const longest = 200;
/** No more characters of a stem can matter: in NFC up to a dozen become one. */
const longestStem = 4_096;

/** Not allowed on some system, or misleading: separators, control, bidi and invisible characters. */
const unsafe =
  /[/\\:*?"<>|\p{Cc}\p{Cs}\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]/gu;
/** Device names reserved by Windows, with any extension. */
const device =
  /^(?:con|conin\$|conout\$|clock\$|prn|aux|nul|com[0-9\u00b9\u00b2\u00b3]|lpt[0-9\u00b9\u00b2\u00b3]) *(?:\.|$)/i;

/**
 * A filename that is valid on every system and never a path (ExportRow, suggested_filename). `stem` can be
 * any text and is shortened if necessary. `ending` must be safe already and is never shortened.
 */
export function safeFilename(stem: string, ending: string): string {
  const clean =
    startOf(stem, longestStem)
      .normalize("NFC")
      .replace(unsafe, "_")
      .replace(/^[.\s]+/, "_") || "_";
  const name = startInBytes(clean, longest - countBytes(ending)) + ending;
  return isDeviceName(name) ? `_${name}` : name;
}

/** Whether Windows reserves a name for a device, as `CON` or `aux.jpg`. */
export const isDeviceName = (name: string): boolean => device.test(name);

const countBytes = (text: string): number => new TextEncoder().encode(text).length;
