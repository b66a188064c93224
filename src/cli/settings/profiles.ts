import { stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { UsageError } from "../context/errors.ts";

/** The settings of a profile. The API key is not one of them: it belongs in the OS keychain. */
export interface Profile {
  readonly baseUrl?: string;
  /** Column names in the user's files, and the import fields that they are mapped to (`--map`). */
  readonly columns?: Readonly<Record<string, string>>;
  /** The name of the header with the signature of a webhook delivery. */
  readonly signatureHeader?: string;
  /** Shown in questions and summaries, so that production is not mistaken for staging; and its color. */
  readonly label?: string;
  readonly color?: string;
  /** Where `cat login` stored the API key, and the only origin that it is sent to. */
  readonly keyStore?: string;
  readonly keyOrigin?: string;
}

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
 * file cannot be read or is not valid JSON.
 */
export async function readProfiles(env: Environment): Promise<Profiles> {
  const path = await configPath(env);
  // For a missing file, `conf` creates the folder, readable by others, and hangs if it cannot create one,
  // e.g. in /proc.
  if (!(await exists(path)))
    return { path, active: defaultProfile, find: () => null, exists: false, names: [] };
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
    exists: true,
    names: Object.keys(profiles),
  };
}

/** Whether the file exists. Throws UsageError if that cannot be determined. */
async function exists(path: string): Promise<boolean> {
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
  throw unreadable(path, new Error("its profiles have an invalid format"));
}

const unreadable = (path: string, cause: unknown): UsageError =>
  new UsageError(
    `cannot read the config file ${path}: ${cause instanceof Error ? cause.message : String(cause)}`,
    {
      code: "invalid_config",
      hint: `Fix the file or move it to another place: mv ${path} ${path}.old`,
      cause,
    },
  );
