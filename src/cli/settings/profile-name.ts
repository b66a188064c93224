import type { GlobalOptions } from "../context/global-options.ts";
import { checkedProfileName } from "./profile-name-rule.ts";

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
