import { join } from "node:path";
import { UsageError } from "../errors.ts";

/** What a profile holds. The key is not among it: it belongs in the OS keychain. */
export interface Profile {
  readonly baseUrl?: string;
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
 * one that cannot be read as JSON is refused with a sentence.
 */
export async function readProfiles(env: Readonly<Record<string, string | undefined>>): Promise<Profiles> {
  const { default: Conf } = await import("conf");
  const home = env.CAT_HOME;
  let path = home === undefined || home === "" ? "the config file" : join(home, "config.json");
  let store: Record<string, unknown>;
  try {
    const conf = new Conf({
      projectName: "catalogue",
      projectSuffix: "",
      configFileMode: 0o600,
      ...(home === undefined || home === "" ? {} : { cwd: home }),
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
