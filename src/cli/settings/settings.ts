import { KeyError, UsageError } from "../context/errors.ts";
import type { GlobalOptions } from "../context/global-options.ts";
import { checkedBaseUrl, type Sourced } from "./base-url.ts";
import { isSet, namedProfile } from "./profile-name.ts";
import { type Profiles, readProfiles } from "./profiles.ts";

/** The URL of the service, and the API key. */
export interface Connection {
  readonly baseUrl: string;
  readonly apiKey: string;
}

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The base URL and the API key: flag, then environment, then profile (interface, Where settings come from).
 * The config file is read only if neither flag nor environment sets the base URL.
 */
export async function resolveConnection(globals: GlobalOptions, env: Env): Promise<Connection> {
  const baseUrl = await baseUrlInUse(globals, env);
  if (baseUrl !== null) return { baseUrl, apiKey: apiKeyOf(env) };
  throw new UsageError("no service URL", {
    code: "missing_base_url",
    param: "base_url",
    hint: "Run: export CAT_BASE_URL=https://HOST (or add --base-url URL). To try it without an account, add --mock.",
  });
}

/**
 * The base URL alone, for commands that need no key; null if none is set. Throws UsageError for an invalid
 * one.
 */
export async function baseUrlInUse(globals: GlobalOptions, env: Env): Promise<string | null> {
  const found = await baseUrlOf(globals, env);
  return found === null ? null : checkedBaseUrl(found);
}

async function baseUrlOf(globals: GlobalOptions, env: Env): Promise<Sourced | null> {
  if (globals.baseUrl !== undefined) return { value: globals.baseUrl, source: "--base-url" };
  if (isSet(env.CAT_BASE_URL)) return { value: env.CAT_BASE_URL, source: "CAT_BASE_URL" };
  const profiles = await readProfiles(env);
  const { name, source } = profileName(globals, env, profiles);
  const profile = profiles.find(name);
  if (profile === null && source !== null) {
    throw new UsageError(`unknown profile ${JSON.stringify(name)} (from ${source})`, {
      code: "unknown_profile",
      param: "profile",
      hint: `Check the name, or add the profile to ${profiles.path}.`,
    });
  }
  const value = profile?.baseUrl;
  if (typeof value === "string" && value !== "")
    return { value, source: `profile ${name} in ${profiles.path}` };
  return null;
}

/** The name of the profile in use, and its source; null for the active profile of the config file. */
export function profileName(
  globals: GlobalOptions,
  env: Env,
  profiles: Profiles,
): { name: string; source: string | null } {
  return namedProfile(globals, env) ?? { name: profiles.active, source: null };
}

/**
 * The API key, checked to be a valid header value: the error of an HTTP library would show the complete key.
 */
function apiKeyOf(env: Env): string {
  const key = env.CAT_API_KEY?.trim();
  if (key === undefined || key === "") {
    throw new KeyError("no API key", {
      hint: "Run: export CAT_API_KEY=ak_... (your key). To try it without an account, add --mock.",
    });
  }
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new KeyError(
      "invalid API key in CAT_API_KEY: it contains spaces, line breaks or special characters",
      {
        code: "invalid_api_key",
        hint: "Set CAT_API_KEY to the key only.",
      },
    );
  }
  return key;
}
