import type { GlobalOptions } from "../context/global-options.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** The profile from the command line or the environment, and its source; null if neither sets one. */
export function namedProfile(
  globals: Pick<GlobalOptions, "profile">,
  env: Env,
): { name: string; source: string } | null {
  if (globals.profile !== undefined) return { name: globals.profile, source: "--profile" };
  if (isSet(env.CAT_PROFILE)) return { name: env.CAT_PROFILE, source: "CAT_PROFILE" };
  return null;
}

/** Whether a variable has a value; an empty one counts as not set. */
export const isSet = (value: string | undefined): value is string =>
  value !== undefined && value.trim() !== "";
