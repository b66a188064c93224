import { readdirSync } from "node:fs";
import { platform, userInfo } from "node:os";
import { posix, resolve, win32 } from "node:path";
import type { Context, Host } from "../context/context.ts";
import { UsageError } from "../context/errors.ts";
import { type Env, isSet } from "./profile-names.ts";

const thisHost: Host = {
  platform: platform(),
  userHome() {
    try {
      return userInfo().homedir;
    } catch {
      return null;
    }
  },
};

/** The parts of the context that decide where settings and state are. */
export type HomeContext = Pick<Context, "env" | "homeFolder" | "host">;

/** The folder of config and state, whether or not it exists. Throws UsageError without one. */
export const homeFolder = async (context: HomeContext): Promise<string> =>
  context.homeFolder?.() ?? findHomeFolder(context.env, context.host);

/** CAT_HOME, else the folder of the platform. An empty or relative variable counts as not set. */
export function findHomeFolder(env: Env, host: Host = thisHost): string {
  if (isSet(env.CAT_HOME)) return checkedHome(env.CAT_HOME, host);
  const folder = platformFolder(env, host);
  if (folder !== null) return folder;
  throw new UsageError("no folder for settings and state: the user has no home folder", {
    code: "no_home",
    param: "CAT_HOME",
    hint: "Set CAT_HOME to the full path of a folder, for example /var/lib/catalogue.",
  });
}

/** Throws UsageError for a CAT_HOME that is a path relative to the current folder. */
export function rejectRelativeHome({ env, cwd, host }: Context): void {
  if (isSet(env.CAT_HOME)) checkedHome(env.CAT_HOME, host ?? thisHost, cwd);
}

function checkedHome(home: string, host: Host, cwd?: string): string {
  const full = fullPath(home, host);
  if (full !== null) return full;
  const meant = cwd === undefined ? "" : `, for example ${resolve(cwd, home)}`;
  throw new UsageError(`CAT_HOME is not a full path: ${JSON.stringify(home)}`, {
    code: "relative_home",
    param: "CAT_HOME",
    hint: `Set CAT_HOME to the full path of the folder${meant}.`,
  });
}

/** The note for a new home folder that a variable names, maybe by mistake; null for any other. */
export function newPlaceNote({ env, host = thisHost }: HomeContext): string | null {
  const folder = findHomeFolder(env, host);
  if (folder === platformFolder({}, host)) return null;
  if (folder === null || !isNew(folder)) return null;
  return `state in ${folder}: new, empty`;
}

/** Whether a folder has neither settings nor a state. One that cannot be read may have both. */
function isNew(folder: string): boolean {
  try {
    return !readdirSync(folder).some((name) => name === "config.json" || name === "state");
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT";
  }
}

/** The platform's folder for settings; null if neither a variable nor the user's entry has a home folder. */
function platformFolder(env: Env, host: Host): string | null {
  const inHome = (named: string | undefined, ...parts: string[]): string | null => {
    const home = fullPath(named, host) ?? fullPath(host.userHome(), host);
    return home === null ? null : pathsOf(host).join(home, ...parts);
  };
  const settings =
    host.platform === "win32"
      ? (fullPath(env.APPDATA, host) ?? inHome(env.USERPROFILE, "AppData", "Roaming"))
      : host.platform === "darwin"
        ? inHome(env.HOME, "Library", "Preferences")
        : (fullPath(env.XDG_CONFIG_HOME, host) ?? inHome(env.HOME, ".config"));
  const own = host.platform === "win32" ? ["catalogue", "Config"] : ["catalogue"];
  return settings === null ? null : pathsOf(host).join(settings, ...own);
}

/** The normalized path; null if relative, or on Windows without a drive. */
function fullPath(path: string | null | undefined, host: Host): string | null {
  const { isAbsolute, normalize, parse } = pathsOf(host);
  if (!path || !isAbsolute(path) || (host.platform === "win32" && parse(path).root.length === 1)) return null;
  const normal = normalize(path);
  return normal.length > parse(normal).root.length ? normal.replace(/[\\/]$/, "") : normal;
}

const pathsOf = ({ platform }: Host) => (platform === "win32" ? win32 : posix);
