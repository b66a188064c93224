import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { UsageError } from "../errors.ts";

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

/**
 * Reads the config file: `config.json` in CAT_HOME, else in the platform's own folder. A missing file is an empty one;
 * one that cannot be read, or not as JSON, is refused with a sentence. Reading makes nothing in CAT_HOME.
 */
export async function readProfiles(env: Readonly<Record<string, string | undefined>>): Promise<Profiles> {
  const home = env.CAT_HOME;
  const isHomeSet = home !== undefined && home !== "";
  // `conf` makes the folder of a file that is missing, open to others, and never ends where none can be made, as in /proc.
  if (isHomeSet && !(await isThere(join(home, "config.json")))) {
    return { path: resolve(home, "config.json"), active: defaultProfile, find: () => null };
  }
  const { default: Conf } = await import("conf");
  let path = isHomeSet ? join(home, "config.json") : "the config file";
  let store: Record<string, unknown>;
  try {
    const conf = new Conf({
      projectName: "catalogue",
      projectSuffix: "",
      configFileMode: 0o600,
      ...(isHomeSet ? { cwd: home } : {}),
    });
    path = conf.path;
    store = conf.store;
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
