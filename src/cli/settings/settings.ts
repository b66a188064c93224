import { type InsecureHosts, isInsecure, parseBaseUrl } from "../../client/base-url.ts";
import { signatureHeader } from "../../contract/signature-header.ts";
import { exactHost } from "../../contract/url-policy.ts";
import { CatError } from "../../errors.ts";
import { shellWord } from "../../shell-word.ts";
import type { Context } from "../context/context.ts";
import { KeyError, UsageError } from "../context/errors.ts";
import type { GlobalOptions } from "../context/globals.ts";
import type { HomeContext } from "./home-folder.ts";
import { type Env, isSet, namedProfile } from "./profile-names.ts";
import { defaultProfile, type Profile, type Profiles, readProfiles, toKeyStore } from "./profiles.ts";

/*
 * Where settings come from: flag, then environment, then profile, then default.
 * The config file is read only for a setting that neither a flag nor the environment sets.
 */

export interface Connection {
  readonly baseUrl: string;
  readonly apiKey: string;
}

/** A setting and its source, as errors name it: `--base-url`, `CAT_BASE_URL`, `profile dev`. */
export interface Sourced {
  readonly value: string;
  readonly source: string;
}

type KeyContext = HomeContext & Pick<Context, "keychain">;

/** The base URL and the API key in use. Throws UsageError without a URL, and KeyError without a key. */
export async function resolveConnection(globals: GlobalOptions, context: KeyContext): Promise<Connection> {
  // Also where the profile has no part in it: a wrong name is never intended.
  namedProfile(globals, context.env);
  const baseUrl = await baseUrlInUse(globals, context);
  if (baseUrl !== null) return { baseUrl, apiKey: (await keyInUse(baseUrl, globals, context)).value };
  throw new UsageError("no service URL", {
    code: "missing_base_url",
    param: "base_url",
    hint: "Run: cat login (or add --base-url URL, or set CAT_BASE_URL). To try it without an account, add --mock.",
  });
}

export interface ProfileInUse {
  readonly name: string;
  /** Its flag or variable; null for the active profile of the config file. */
  readonly source: string | null;
  /** Null for a profile that is not in the config file. */
  readonly settings: Profile | null;
  readonly profiles: Profiles;
}

/** The profile in use, maybe without settings. Throws UsageError for a bad file or name. */
export async function profileInUse(
  globals: Pick<GlobalOptions, "profile">,
  context: HomeContext,
): Promise<ProfileInUse> {
  const profiles = await readProfiles(context);
  const { name, source } = namedProfile(globals, context.env) ?? { name: profiles.active, source: null };
  return { name, source, settings: profiles.find(name), profiles };
}

/** The same; only the active profile may have no settings. Throws UsageError for another unknown profile. */
export async function existingProfile(globals: GlobalOptions, context: HomeContext): Promise<ProfileInUse> {
  const inUse = await profileInUse(globals, context);
  if (inUse.settings !== null || inUse.source === null) return inUse;
  throw unknownProfile(`${JSON.stringify(inUse.name)} (from ${inUse.source})`);
}

/** The error for a profile that the settings do not have; `named` is the name, and where it is from. */
export const unknownProfile = (
  named: string,
  { param = "profile", hint = "Check the name. To list the profiles: cat config list" } = {},
): UsageError => new UsageError(`unknown profile ${named}`, { code: "unknown_profile", param, hint });

/** The base URL, for commands without a key; null if not set. Throws UsageError if invalid. */
export async function baseUrlInUse(globals: GlobalOptions, context: HomeContext): Promise<string | null> {
  const setting = await readBaseUrl(globals, context);
  return setting === null ? null : checkedBaseUrl(setting, insecureHosts(context.env));
}

/** The base URL as it was set, and its source; null if none is set. */
export async function readBaseUrl(globals: GlobalOptions, context: HomeContext): Promise<Sourced | null> {
  const { env } = context;
  if (globals.baseUrl !== undefined) return { value: globals.baseUrl, source: "--base-url" };
  if (isSet(env.CAT_BASE_URL)) return { value: env.CAT_BASE_URL, source: "CAT_BASE_URL" };
  const { name, source, settings, profiles } = await profileInUse(globals, context);
  if (settings === null && source !== null) {
    const hint = `Check the name (cat config list), or add the profile: cat login --profile ${shellWord(name)}`;
    throw unknownProfile(`${JSON.stringify(name)} (from ${source})`, { hint });
  }
  return settings?.baseUrl
    ? { value: settings.baseUrl, source: `profile ${name} in ${profiles.path}` }
    : null;
}

/** The base URL as the client expects it. Throws UsageError, with the source, if rejected. */
export function checkedBaseUrl({ value, source }: Sourced, hosts: InsecureHosts): string {
  try {
    const { origin, prefix } = parseBaseUrl(value, hosts);
    return origin + prefix;
  } catch (error) {
    if (!(error instanceof CatError)) throw error;
    throw new UsageError(`${error.message.replace(/\.$/, "")} (from ${source})`, {
      code: error.code,
      hint: error.hint,
      param: "base_url",
    });
  }
}

/**
 * Where the end of a run is reported: by the flag, else CAT_NOTIFY, else the profile; null for none. A demo
 * with `--mock` is reported by the flag alone.
 */
export async function notifyInUse(
  flag: string | undefined,
  globals: GlobalOptions,
  context: HomeContext,
): Promise<Sourced | null> {
  const { CAT_NOTIFY } = context.env;
  const sourced = async () => {
    if (flag !== undefined) return { value: flag, source: "--notify" };
    if (globals.mock) return null;
    if (isSet(CAT_NOTIFY)) return { value: CAT_NOTIFY, source: "CAT_NOTIFY" };
    // A command whose other settings are in flags or variables works without the config file.
    const { name, settings } = await profileInUse(globals, context).catch(() => ({
      name: "",
      settings: null,
    }));
    return settings?.notify ? { value: settings.notify, source: `notify of profile ${name}` } : null;
  };
  const found = await sourced();
  return found?.value.trim() === "none" ? null : found;
}

/** The API key: CAT_API_KEY, else the stored one of the profile. Throws KeyError without. */
export async function keyInUse(
  baseUrl: string,
  globals: GlobalOptions,
  context: KeyContext,
): Promise<Sourced> {
  const { env } = context;
  if (!isSet(env.CAT_API_KEY)) return storedKey(baseUrl, await profileInUse(globals, context), context);
  const hint = "Set CAT_API_KEY to the key only.";
  return {
    value: checkedApiKey(env.CAT_API_KEY, { source: "in CAT_API_KEY", hint }),
    source: "CAT_API_KEY",
  };
}

/**
 * The stored API key of a profile, and where it is stored. It belongs to one origin and is sent to no other.
 * The keychain is asked only if the settings say that it has the key. Throws KeyError without a key for this
 * base URL.
 */
async function storedKey(
  baseUrl: string,
  { name, settings, profiles }: ProfileInUse,
  context: KeyContext,
): Promise<Sourced> {
  const stored = toKeyStore(settings);
  const login = `cat login${name === defaultProfile ? "" : ` --profile ${shellWord(name)}`}`;
  if (stored === null) {
    throw new KeyError("no API key", {
      hint: `Run: ${login} (or set CAT_API_KEY). To try it without an account, add --mock.`,
    });
  }
  const { origin } = new URL(baseUrl);
  if (stored.origin !== origin) {
    throw new KeyError(`the key of profile ${name} is for ${stored.origin} and is not sent to ${origin}`, {
      code: "key_of_another_origin",
      hint: `Set CAT_API_KEY, or sign in there: cat login --profile NAME --base-url ${shellWord(origin)}`,
    });
  }
  const { openKeyStore } = await import("./key-stores.ts");
  const store = openKeyStore(stored.store, name, profiles.path, context);
  const key = await store.read({ profile: name, origin });
  if (key === null) {
    const isKeychain = stored.store === "keychain";
    throw new KeyError(`no API key in ${store.place}${isKeychain ? ": it is locked or empty" : ""}`, {
      code: "stored_key_missing",
      hint: `${isKeychain ? "Unlock it and run the command again, or sign in again" : "Sign in again"}: ${login}`,
    });
  }
  return {
    value: checkedApiKey(key, { source: `in ${store.place}`, hint: `Run: ${login}` }),
    source: store.place,
  };
}

/** A key longer than this is another file by mistake. */
const longestKey = 1_000;

/** Whether a text can be sent as an API key: printable ASCII without spaces. */
export const isApiKey = (text: string): boolean => text.length <= longestKey && /^[\x21-\x7e]+$/.test(text);

/** The trimmed API key. Its KeyError never shows the text, as the error of a library would. */
export function checkedApiKey(text: string, { source, hint }: { source: string; hint: string }): string {
  const key = text.trim();
  if (isApiKey(key)) return key;
  const why =
    key.length > longestKey ? "it is too long" : "it contains spaces, line breaks or special characters";
  throw new KeyError(`invalid API key ${source}: ${key === "" ? "it is empty" : why}`, {
    code: "invalid_api_key",
    hint,
  });
}

/** The signature header: of the profile, else `Service-Signature`. Throws UsageError for an invalid name. */
export async function signatureHeaderInUse(globals: GlobalOptions, context: HomeContext): Promise<string> {
  const { name, settings, profiles } = await profileInUse(globals, context);
  const header: unknown = settings?.signatureHeader ?? signatureHeader;
  return checkedSignatureHeader(header, `profile ${name} of ${profiles.path}`);
}

/** The name of a header. Throws UsageError, with the source, for anything else. */
export function checkedSignatureHeader(header: unknown, source: string): string {
  // The characters of a token (RFC 9110, 5.6.2).
  if (typeof header === "string" && /^[\w!#$%&'*+.^`|~-]{1,100}$/.test(header)) return header;
  throw new UsageError(`invalid signatureHeader in ${source}: not a header name`, {
    code: "invalid_config",
    param: "signatureHeader",
    hint: `Use a name such as ${signatureHeader}.`,
  });
}

const insecureHostsVariable = "CAT_INSECURE_HTTP_HOSTS";

/** The hosts of CAT_INSECURE_HTTP_HOSTS. Throws UsageError for an entry that is not an exact host name. */
export function insecureHosts(env: Env): ReadonlySet<string> {
  const entries = (env[insecureHostsVariable] ?? "").split(",").map((entry) => entry.trim());
  return new Set(
    entries
      .filter((entry) => entry !== "")
      .map((entry) => {
        const host = exactHost(entry);
        if (host !== null) return host;
        throw new UsageError(
          `invalid ${insecureHostsVariable}: ${JSON.stringify(entry)} is not an exact host name`,
          {
            code: "invalid_insecure_host",
            param: insecureHostsVariable,
            hint: "List host names without http://, ports and wildcards, separated by commas: mock,10.0.0.7",
          },
        );
      }),
  );
}

/** A sentence about a base URL to which the API key is sent unencrypted; null for any other. */
export function insecureNote(baseUrl: string, env: Env): string | null {
  const url = new URL(baseUrl);
  if (!isInsecure(url, insecureHosts(env))) return null;
  return `The API key is sent unencrypted to ${url.origin}, because ${insecureHostsVariable} names this host.`;
}
