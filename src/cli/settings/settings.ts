import type { Context } from "../context/context.ts";
import { UsageError } from "../context/errors.ts";
import type { GlobalOptions } from "../context/global-options.ts";
import { shellWord } from "../output/shell-word.ts";
import { checkedApiKey } from "./api-key.ts";
import { checkedBaseUrl, type Sourced } from "./base-url.ts";
import type { Profile } from "./profile.ts";
import { isSet, namedProfile } from "./profile-name.ts";
import { type Profiles, readProfiles } from "./profiles.ts";

/** The URL of the service, and the API key. */
export interface Connection {
  readonly baseUrl: string;
  readonly apiKey: string;
}

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The base URL and the API key: flag, then environment, then profile.
 * The config file is read only if neither flag nor environment sets both.
 */
export async function resolveConnection(
  globals: GlobalOptions,
  context: Pick<Context, "env" | "keychain">,
): Promise<Connection> {
  // Also where the profile has no part in it: a wrong name is never intended.
  namedProfile(globals, context.env);
  const baseUrl = await baseUrlInUse(globals, context.env);
  if (baseUrl !== null) return { baseUrl, apiKey: (await keyInUse(baseUrl, globals, context)).value };
  throw new UsageError("no service URL", {
    code: "missing_base_url",
    param: "base_url",
    hint: "Run: cat login (or add --base-url URL, or set CAT_BASE_URL). To try it without an account, add --mock.",
  });
}

/** The API key for a base URL: of CAT_API_KEY, else the stored one of the profile. Throws KeyError without one. */
export async function keyInUse(
  baseUrl: string,
  globals: GlobalOptions,
  context: Pick<Context, "env" | "keychain">,
): Promise<Sourced> {
  const { env } = context;
  if (isSet(env.CAT_API_KEY)) {
    const hint = "Set CAT_API_KEY to the key only.";
    return {
      value: checkedApiKey(env.CAT_API_KEY, { source: "in CAT_API_KEY", hint }),
      source: "CAT_API_KEY",
    };
  }
  const { storedKey } = await import("./stored-key.ts");
  return storedKey(baseUrl, profileName(globals, env, await readProfiles(env)).name, context);
}

/**
 * The base URL alone, for commands that need no key; null if none is set. Throws UsageError for an invalid
 * one.
 */
export async function baseUrlInUse(globals: GlobalOptions, env: Env): Promise<string | null> {
  const found = await baseUrlOf(globals, env);
  return found === null ? null : checkedBaseUrl(found);
}

/** The base URL as it was set, and its source; null if none is set. */
export async function baseUrlOf(globals: GlobalOptions, env: Env): Promise<Sourced | null> {
  if (globals.baseUrl !== undefined) return { value: globals.baseUrl, source: "--base-url" };
  if (isSet(env.CAT_BASE_URL)) return { value: env.CAT_BASE_URL, source: "CAT_BASE_URL" };
  const profiles = await readProfiles(env);
  const { name, source } = profileName(globals, env, profiles);
  const profile = profiles.find(name);
  if (profile === null && source !== null) {
    throw new UsageError(`unknown profile ${JSON.stringify(name)} (from ${source})`, {
      code: "unknown_profile",
      param: "profile",
      hint: `Check the name (cat config list), or add the profile: cat login --profile ${shellWord(name)}`,
    });
  }
  const value = profile?.baseUrl;
  if (typeof value === "string" && value !== "")
    return { value, source: `profile ${name} in ${profiles.path}` };
  return null;
}

/** The profile in use, and its settings; null if the active one has none. Throws UsageError for another unknown profile. */
export function existingProfile(
  globals: Pick<GlobalOptions, "profile">,
  env: Env,
  profiles: Profiles,
): { name: string; settings: Profile | null } {
  const { name, source } = profileName(globals, env, profiles);
  const settings = profiles.find(name);
  if (settings !== null || source === null) return { name, settings };
  throw new UsageError(`unknown profile ${JSON.stringify(name)} (from ${source})`, {
    code: "unknown_profile",
    param: "profile",
    hint: "Check the name. To list the profiles: cat config list",
  });
}

/** The name of the profile in use, and its source; null for the active profile of the config file. */
export function profileName(
  globals: Pick<GlobalOptions, "profile">,
  env: Env,
  profiles: Profiles,
): { name: string; source: string | null } {
  return namedProfile(globals, env) ?? { name: profiles.active, source: null };
}
