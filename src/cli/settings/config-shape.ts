import { UsageError } from "../context/errors.ts";
import type { Profile } from "./profile.ts";
import { isProfileName } from "./profile-name-rule.ts";

/** The content of the config file. Keys that this version does not know are kept. */
export interface Config {
  readonly active?: string;
  readonly profiles?: Readonly<Record<string, Profile>>;
}

/** The settings of a profile that are texts. */
const texts = ["baseUrl", "signatureHeader", "label", "color", "keyStore", "keyOrigin"] as const;

/** Every setting of a profile. */
export const profileKeys = [...texts, "columns"] as const satisfies readonly (keyof Profile)[];

/** The config in a text. Throws UsageError, which names the file and the wrong part, for any other shape. */
export function checkedConfig(text: string, path: string): Config {
  const problem = (why: string, cause?: unknown) => unreadableConfig(path, why, cause);
  const object = (value: unknown, name: string): Record<string, unknown> => {
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
    throw problem(`${name} is not a JSON object`);
  };
  let parsed: unknown;
  try {
    // Editors on Windows may add a byte order mark.
    parsed = JSON.parse(text.replace(/^\ufeff/, ""));
  } catch (error) {
    throw problem("it is not valid JSON", error);
  }
  const config = object(parsed, "it");
  if (config.active !== undefined && typeof config.active !== "string")
    throw problem("active is not a string");
  if (config.active !== undefined && !isProfileName(config.active))
    throw problem("active is not the name of a profile");
  if (config.profiles === undefined) return config;
  for (const [name, value] of Object.entries(object(config.profiles, "profiles"))) {
    const place = `profiles[${JSON.stringify(name)}]`;
    const profile = object(value, place);
    const wrong = texts.find((key) => profile[key] !== undefined && typeof profile[key] !== "string");
    if (wrong !== undefined) throw problem(`${wrong} in ${place} is not a string`);
    if (profile.columns !== undefined) object(profile.columns, `columns in ${place}`);
  }
  return config;
}

/** The error for a config file that cannot be used; `why` follows a colon. */
export const unreadableConfig = (path: string, why: string, cause?: unknown): UsageError =>
  new UsageError(`cannot read the config file ${path}: ${why}`, {
    code: "invalid_config",
    hint: `Fix the file or move it to another place: mv ${path} ${path}.old`,
    ...(cause === undefined ? {} : { cause }),
  });
