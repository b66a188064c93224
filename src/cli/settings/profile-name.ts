import type { GlobalOptions } from "../context/global-options.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** The profile that the command line or the environment names, and which of them; null when neither does. */
export function namedProfile(
  globals: Pick<GlobalOptions, "profile">,
  env: Env,
): { name: string; source: string } | null {
  if (globals.profile !== undefined) return { name: globals.profile, source: "--profile" };
  if (isSet(env.CAT_PROFILE)) return { name: env.CAT_PROFILE, source: "CAT_PROFILE" };
  return null;
}

/** An empty variable is as good as none. */
export const isSet = (value: string | undefined): value is string =>
  value !== undefined && value.trim() !== "";
