import { accessSync, constants } from "node:fs";
import { readFile } from "node:fs/promises";
import { platform } from "node:os";
import { dirname, join } from "node:path";
import { fileProblem } from "../../errors.ts";
import { DeepJsonError, isObject, parseJson } from "../../json.ts";
import { decodedText } from "../../text.ts";
import { UsageError } from "../context/errors.ts";
import { type HomeContext, homeFolder } from "./home-folder.ts";
import { isProfileName } from "./profile-names.ts";

/** The settings of a profile. The API key is not one of them: it belongs in the OS keychain. */
export interface Profile {
  readonly baseUrl?: string;
  /** Column names in the user's files, and the import fields that they are mapped to (`--map`). */
  readonly columns?: Readonly<Record<string, string>>;
  /** By field, values in the user's files, and what they are read as (`--map-value`). */
  readonly values?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** By the name of a workbook, the sheet that is read. */
  readonly sheets?: Readonly<Record<string, string>>;
  /** The encoding of the user's files that are not UTF-8. */
  readonly encoding?: string;
  /** The same for the files of other commands: `tryon`, `beautify`, `products`. */
  readonly mappings?: Readonly<Record<string, unknown>>;
  /** The name of the header with the signature of a webhook delivery. */
  readonly signatureHeader?: string;
  /** Shown in questions and summaries, so that production is not mistaken for staging; and its color. */
  readonly label?: string;
  readonly color?: string;
  /** Whether CSV output is written for Excel (`--excel`). */
  readonly excel?: boolean;
  /** Where the end of a run is reported (`--notify`). */
  readonly notify?: string;
  /** Where `cat login` stored the API key, and the only origin that it is sent to. */
  readonly keyStore?: string;
  readonly keyOrigin?: string;
}

/** Where `cat login` can store a key. */
export const keyStoreNames = ["keychain", "file"] as const;
export type KeyStoreName = (typeof keyStoreNames)[number];

/** Where the settings of a profile say that its key is; null without a key. */
export function toKeyStore(profile: Profile | null): { store: KeyStoreName; origin: string } | null {
  const { keyStore, keyOrigin } = profile ?? {};
  const store = keyStoreNames.find((name) => name === keyStore);
  return store === undefined || typeof keyOrigin !== "string" ? null : { store, origin: keyOrigin };
}

/** The content of the config file. Keys that this version does not know are kept. */
export interface Config {
  readonly active?: string;
  readonly profiles?: Readonly<Record<string, Profile>>;
}

export interface Profiles {
  readonly path: string;
  /** The profile to use if neither a flag nor a variable sets one. */
  readonly active: string;
  find(name: string): Profile | null;
  readonly exists: boolean;
  readonly names: readonly string[];
}

/** The active profile before one was chosen. */
export const defaultProfile = "default";

/** The path of the config file, whether or not it exists. */
export const configPath = async (context: HomeContext): Promise<string> =>
  join(await homeFolder(context), "config.json");

/** Reads the config file; a missing one is empty. Throws UsageError if unreadable or of another shape. */
export async function readProfiles(context: HomeContext): Promise<Profiles> {
  const path = await configPath(context);
  const config = await readConfig(path);
  const { active = defaultProfile, profiles = {} } = config ?? {};
  return {
    path,
    active,
    find: (name) => (Object.hasOwn(profiles, name) ? profiles[name]! : null),
    exists: config !== null,
    names: Object.keys(profiles),
  };
}

/** The config with unknown keys; null if missing. Throws UsageError as `readProfiles` does. */
export async function readConfig(path: string): Promise<Config | null> {
  let text: string;
  try {
    text = decodedText(await readFile(path));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return null;
    if (code === "ENOTDIR") throw notAFolder(dirname(path), error);
    throw unreadableConfig(path, fileProblem(error)?.why ?? message, error);
  }
  return checkedConfig(text, path);
}

const texts = [
  "baseUrl",
  "signatureHeader",
  "label",
  "color",
  "notify",
  "keyStore",
  "keyOrigin",
  "encoding",
] as const;

export const profileKeys = [
  ...texts,
  "columns",
  "values",
  "mappings",
  "sheets",
  "excel",
] as const satisfies readonly (keyof Profile)[];

/** The config in a text. Throws UsageError, which names the file and the wrong part, for any other shape. */
function checkedConfig(text: string, path: string): Config {
  const problem = (why: string, cause?: unknown) => unreadableConfig(path, why, cause);
  const object = (value: unknown, name: string): Readonly<Record<string, unknown>> => {
    if (isObject(value)) return value;
    throw problem(`${name} is not a JSON object`);
  };
  let parsed: unknown;
  try {
    parsed = parseJson(text);
  } catch (error) {
    const isDeep = error instanceof DeepJsonError;
    throw problem(isDeep ? `line ${error.line} has ${error.message}` : "it is not valid JSON", error);
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
    if (profile.excel !== undefined && typeof profile.excel !== "boolean")
      throw problem(`excel in ${place} is not true or false`);
    for (const key of ["columns", "values", "mappings", "sheets"])
      if (profile[key] !== undefined) object(profile[key], `${key} in ${place}`);
  }
  return config;
}

/** The error for a config file that cannot be used; `why` follows a colon. */
const unreadableConfig = (path: string, why: string, cause?: unknown): UsageError =>
  new UsageError(`cannot read the config file ${path}: ${why}`, {
    code: "invalid_config",
    hint: isOwnFolder(dirname(path))
      ? `Fix the file or move it to another place: ${platform() === "win32" ? "move" : "mv"} ${path} ${path}.old`
      : `Set CAT_HOME to a folder of your own, or make this one yours: sudo chown -R "$USER" ${dirname(path)}`,
    ...(cause === undefined ? {} : { cause }),
  });

/** Whether files of a folder can be read and moved: not in one of another user. */
function isOwnFolder(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The error for a settings folder that cannot exist, because its path leads through a file. */
export const notAFolder = (folder: string, cause?: unknown): UsageError =>
  new UsageError(`cannot use the settings folder ${folder}: part of its path is a file`, {
    code: "invalid_config",
    hint: "Set CAT_HOME to a folder, or move the file.",
    ...(cause === undefined ? {} : { cause }),
  });
