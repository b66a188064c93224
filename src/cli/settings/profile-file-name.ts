import { createHash } from "node:crypto";

/** Names that Windows reserves for devices, whatever follows the first dot. */
const device = /^(con|prn|aux|nul|com\d|lpt\d)$/;
/**
 * Longer names are cut: a file name has 255 bytes at most, and the companions of the state file add a suffix.
 */
const longest = 150;

/**
 * The file name for a profile, without extension. No two profiles share one, even on a file system that
 * ignores case, and none leads out of the folder. Lower-case letters, digits, `-` and `_` are kept; any other
 * byte becomes `%` and its hex digits.
 */
export function profileFileName(profile: string): string {
  const plain = Array.from(Buffer.from(profile, "utf8"), (byte) => {
    const character = String.fromCharCode(byte);
    return /[a-z0-9_-]/.test(character) ? character : escaped(byte);
  }).join("");
  // No other name gives a `%` without hex digits.
  if (plain === "") return "%";
  if (device.test(plain)) return escaped(plain.charCodeAt(0)) + plain.slice(1);
  if (plain.length <= longest) return plain;
  return `${plain.slice(0, longest - 66)}%-${createHash("sha256").update(profile).digest("hex")}`;
}

const escaped = (byte: number): string => `%${byte.toString(16).padStart(2, "0")}`;
