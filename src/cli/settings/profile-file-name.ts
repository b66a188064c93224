import { createHash } from "node:crypto";

/** Names that Windows keeps for devices, whatever follows the first dot. */
const device = /^(con|prn|aux|nul|com\d|lpt\d)$/;
/** Longer ones are cut: a name of a file has 255 bytes at most, and the state's companions need some of them. */
const longest = 150;

/**
 * A profile's name as the name of a file, without an ending: no two profiles share one, also where case does not count, and none
 * leads out of its folder. Lower-case letters, digits, `-` and `_` stand for themselves, any other byte as `%` and its hex.
 */
export function profileFileName(profile: string): string {
  const plain = Array.from(Buffer.from(profile, "utf8"), (byte) => {
    const character = String.fromCharCode(byte);
    return /[a-z0-9_-]/.test(character) ? character : escaped(byte);
  }).join("");
  // `%` without hex after it comes from nothing else.
  if (plain === "") return "%";
  if (device.test(plain)) return escaped(plain.charCodeAt(0)) + plain.slice(1);
  if (plain.length <= longest) return plain;
  return `${plain.slice(0, longest - 66)}%-${createHash("sha256").update(profile).digest("hex")}`;
}

const escaped = (byte: number): string => `%${byte.toString(16).padStart(2, "0")}`;
