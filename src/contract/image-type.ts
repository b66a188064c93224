import type { imageTypes } from "./value-sets.ts";

/** Number of leading bytes that `imageTypeOf` needs. */
export const imageTypeBytes = 12;

/** The image type found in the first bytes, or null. A declared type never counts (Image). */
export function imageTypeOf(bytes: Uint8Array): (typeof imageTypes)[number] | null {
  if (startsWith(bytes, 0, [0xff, 0xd8, 0xff])) return "image/jpeg";
  if (startsWith(bytes, 0, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return "image/png";
  const riff = startsWith(bytes, 0, [0x52, 0x49, 0x46, 0x46]);
  if (riff && startsWith(bytes, 8, [0x57, 0x45, 0x42, 0x50])) return "image/webp";
  return null;
}

const startsWith = (bytes: Uint8Array, at: number, expected: readonly number[]): boolean =>
  expected.every((byte, index) => bytes[at + index] === byte);
