import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { UsageError } from "../context/errors.ts";
import { type Config, checkedConfig, unreadableConfig } from "./config-shape.ts";
import type { Profile } from "./profile.ts";

/** The profiles in the config file. */
export interface Profiles {
  /** The path of the config file, whether or not it exists. */
  readonly path: string;
  /** The profile to use if neither a flag nor a variable sets one. */
  readonly active: string;
  find(name: string): Profile | null;
  /** Whether the config file exists. */
  readonly exists: boolean;
  readonly names: readonly string[];
}

/** The active profile before one was chosen. */
export const defaultProfile = "default";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The path of the config file, whether or not it exists: `config.json` in CAT_HOME, else in the config folder
 * of the platform.
 */
export async function configPath({ CAT_HOME: home }: Environment): Promise<string> {
  if (home !== undefined && home !== "") return resolve(home, "config.json");
  const { default: envPaths } = await import("env-paths");
  return join(envPaths("catalogue", { suffix: "" }).config, "config.json");
}

/**
 * Reads the config file, without creating anything. A missing file counts as empty. Throws UsageError if the
 * file cannot be read, is not valid JSON or has another shape.
 */
export async function readProfiles(env: Environment): Promise<Profiles> {
  const path = await configPath(env);
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

/**
 * The config in a file, with the keys that this version does not know; null if the file is missing. Throws UsageError
 * as `readProfiles` does.
 */
export async function readConfig(path: string): Promise<Config | null> {
  const text = await textOf(path);
  return text === null ? null : checkedConfig(text, path);
}

async function textOf(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return null;
    if (code === "ENOTDIR") throw notAFolder(dirname(path), error);
    throw unreadableConfig(path, message, error);
  }
}

/** The error for a settings folder that cannot exist, because its path leads through a file. */
export const notAFolder = (folder: string, cause?: unknown): UsageError =>
  new UsageError(`cannot use the settings folder ${folder}: part of its path is a file`, {
    code: "invalid_config",
    hint: "Set CAT_HOME to a folder, or move the file.",
    ...(cause === undefined ? {} : { cause }),
  });
