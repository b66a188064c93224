import { UsageError } from "../context/errors.ts";
import type { GlobalOptions } from "../context/globals.ts";

const hint =
  "Use up to 32 letters, digits, hyphens, underscores and periods, starting with a letter or digit: staging";

/** The name of a profile. Throws UsageError without the name, which may be a pasted API key. */
export function checkedProfileName(name: string, source: string): string {
  if (looksLikeKey(name)) throw invalid(`the profile name looks like an API key (from ${source})`);
  if (isProfileName(name)) return name;
  throw invalid(`invalid profile name (from ${source})`);
}

/** Whether a text looks like an API key, of which every one starts with `ak_`. */
export const looksLikeKey = (text: string): boolean => /^ak_/i.test(text.trim());

export const isProfileName = (text: string): boolean =>
  !looksLikeKey(text) && /^[a-z0-9][\w.-]{0,31}$/i.test(text);

const invalid = (message: string): UsageError =>
  new UsageError(message, { code: "invalid_profile_name", param: "profile", hint: `${hint}.` });

export type Env = Readonly<Record<string, string | undefined>>;

/** The profile of a flag or variable, and its source; null for neither. Throws UsageError for a bad name. */
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
 * The file name for a profile, without extension. No two profiles share one, even on a file system that
 * ignores case. Lower-case letters, digits, `-` and `_` are kept; any other character becomes `%` and its
 * code in hex.
 */
export function profileFileName(profile: string): string {
  const plain = profile.replace(/[^a-z0-9_-]/g, escaped);
  return device.test(plain) ? escaped(plain[0]!) + plain.slice(1) : plain;
}

const escaped = (character: string): string => `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
