import { stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { UsageError } from "../context/errors.ts";

/** What a profile holds. The key is not among it: it belongs in the OS keychain. */
export interface Profile {
  readonly baseUrl?: string;
  /** What its files call their columns, and the fields of an import they are read as (`--map`). */
  readonly columns?: Readonly<Record<string, string>>;
}

/** The profiles of this machine, as the config file has them. */
export interface Profiles {
  /** The path of the config file, whether or not it exists. */
  readonly path: string;
  /** The name of the profile that is used when none is named. */
  readonly active: string;
  find(name: string): Profile | null;
}

/** The profile that is used when none was ever chosen. */
export const defaultProfile = "default";

type Environment = Readonly<Record<string, string | undefined>>;

/** The path of the config file, whether or not it exists: `config.json` in CAT_HOME, else in the platform's own folder. */
export async function configPath({ CAT_HOME: home }: Environment): Promise<string> {
  if (home !== undefined && home !== "") return resolve(home, "config.json");
  const { default: envPaths } = await import("env-paths");
  return join(envPaths("catalogue", { suffix: "" }).config, "config.json");
}

/**
 * Reads the config file. A missing file is an empty one; one that cannot be read, or not as JSON, is refused with a
 * sentence. Reading makes nothing.
 */
export async function readProfiles(env: Environment): Promise<Profiles> {
  const path = await configPath(env);
  // `conf` makes the folder of a file that is missing, open to others, and never ends where none can be made, as in /proc.
  if (!(await isThere(path))) return { path, active: defaultProfile, find: () => null };
  const { default: Conf } = await import("conf");
  let store: Record<string, unknown>;
  try {
    store = new Conf({ projectName: "catalogue", configFileMode: 0o600, cwd: dirname(path) }).store;
  } catch (error) {
    throw unreadable(path, error);
  }
  const profiles = objectOr(store.profiles, path);
  return {
    path,
    active: typeof store.active === "string" ? store.active : defaultProfile,
    find: (name) => (Object.hasOwn(profiles, name) ? objectOr(profiles[name], path) : null),
  };
}

/** Whether there is a file to read. Throws UsageError where that cannot be told. */
async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return false;
    throw unreadable(path, error);
  }
}

function objectOr(value: unknown, path: string): Record<string, unknown> {
  if (value === undefined) return {};
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw unreadable(path, new Error("its profiles are not as this program writes them"));
}

const unreadable = (path: string, cause: unknown): UsageError =>
  new UsageError(
    `the config file ${path} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`,
    { code: "invalid_config", hint: "Mend it or move it away.", cause },
  );
