import { createHash } from "node:crypto";
import { UsageError } from "../context/errors.ts";
import type { GlobalOptions } from "../context/globals.ts";

const hint =
  "Use up to 32 letters, digits, hyphens, underscores and periods, starting with a letter or digit: staging";

/**
 * The name of a profile. Throws UsageError, which never shows the name: it may be an API key that was pasted into
 * the wrong place.
 */
export function checkedProfileName(name: string, source: string): string {
  if (looksLikeKey(name)) throw invalid(`the profile name looks like an API key (from ${source})`);
  if (isProfileName(name)) return name;
  throw invalid(`invalid profile name (from ${source})`);
}

/** Whether a text looks like an API key, of which every one starts with `ak_`. */
export const looksLikeKey = (text: string): boolean => /^ak_/i.test(text.trim());

/** Whether a text has the form of a profile name. */
export const isProfileName = (text: string): boolean =>
  !looksLikeKey(text) && /^[a-z0-9][\w.-]{0,31}$/i.test(text);

const invalid = (message: string): UsageError =>
  new UsageError(message, { code: "invalid_profile_name", param: "profile", hint: `${hint}.` });

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The profile from the command line or the environment, and its source; null if neither sets one. Throws UsageError
 * for a name that no profile can have.
 */
export function namedProfile(
  globals: Pick<GlobalOptions, "profile">,
  env: Env,
): { name: string; source: string } | null {
  if (globals.profile !== undefined) return checked(globals.profile, "--profile");
  if (isSet(env.CAT_PROFILE)) return checked(env.CAT_PROFILE, "CAT_PROFILE");
  return null;
}

/** Whether a variable has a value; an empty one counts as not set. */
export const isSet = (value: string | undefined): value is string =>
  value !== undefined && value.trim() !== "";

const checked = (name: string, source: string) => ({ name: checkedProfileName(name, source), source });

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
