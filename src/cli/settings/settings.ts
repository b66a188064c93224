import { KeyError, UsageError } from "../context/errors.ts";
import type { GlobalOptions } from "../context/global-options.ts";
import { checkedBaseUrl, type Sourced } from "./base-url.ts";
import { isSet, namedProfile } from "./profile-name.ts";
import { type Profiles, readProfiles } from "./profiles.ts";

/** Where the service is and who asks. */
export interface Connection {
  readonly baseUrl: string;
  readonly apiKey: string;
}

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The base URL and the key: flag, then environment, then profile (interface, Where settings come from). The config file
 * is read only when flag and environment leave something open.
 */
export async function resolveConnection(globals: GlobalOptions, env: Env): Promise<Connection> {
  const baseUrl = await baseUrlInUse(globals, env);
  if (baseUrl !== null) return { baseUrl, apiKey: apiKeyOf(env) };
  throw new UsageError("the address of the service is not known", {
    code: "missing_base_url",
    param: "base_url",
    hint: "Give --base-url URL or set CAT_BASE_URL; or add --mock to try it out without a service.",
  });
}

/** The base URL alone, for what needs no key; null where none is set. Throws UsageError for one that cannot be used. */
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
    throw new UsageError(`there is no profile ${JSON.stringify(name)} (from ${source}) in ${profiles.path}`, {
      code: "unknown_profile",
      param: "profile",
    });
  }
  const value = profile?.baseUrl;
  if (typeof value === "string" && value !== "")
    return { value, source: `profile ${name} in ${profiles.path}` };
  return null;
}

/** The name of the profile in use and who named it; null when nobody did. */
export function profileName(
  globals: GlobalOptions,
  env: Env,
  profiles: Profiles,
): { name: string; source: string | null } {
  return namedProfile(globals, env) ?? { name: profiles.active, source: null };
}

/** The key, checked to be a header's value: an HTTP library would show it whole in its own complaint. */
function apiKeyOf(env: Env): string {
  const key = env.CAT_API_KEY?.trim();
  if (key === undefined || key === "") {
    throw new KeyError("there is no key for the service", {
      hint: "Set CAT_API_KEY to your machine key (it begins with ak_); or add --mock to try it out without one.",
    });
  }
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new KeyError("the key in CAT_API_KEY holds spaces, line ends or other characters that no key has", {
      code: "invalid_api_key",
      hint: "Set CAT_API_KEY to the key alone.",
    });
  }
  return key;
}
