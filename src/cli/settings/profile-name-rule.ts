import { UsageError } from "../context/errors.ts";

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
