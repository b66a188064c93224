import { dirname, join, resolve } from "node:path";
import type { State } from "../../state/state.ts";
import type { Context } from "../context/context.ts";
import type { GlobalOptions } from "../context/global-options.ts";
import { profileFileName } from "../settings/profile-file-name.ts";
import { namedProfile } from "../settings/profile-name.ts";

/** The parts of the app that determine the path of its state. */
export interface Asker {
  readonly context: Pick<Context, "clock" | "cwd" | "env">;
  readonly globals: Pick<GlobalOptions, "mock" | "profile">;
}

/**
 * Opens the state of the profile in use, `state/PROFILE.db` next to the config file; creates it if missing.
 * With `--mock` the state is kept in memory only, because the mock service ends with the command. The caller
 * closes it.
 */
export async function openProfileState(app: Asker): Promise<State> {
  const { openState } = await import("../../state/open-state.ts");
  return openState(await profileStatePath(app), { clock: app.context.clock });
}

/**
 * Opens the state in the file of `--ledger FILE`; creates the file if missing, but not its folder. The caller
 * closes it.
 */
export async function openStateFile(app: Asker, file: string): Promise<State> {
  const { openState } = await import("../../state/open-state.ts");
  const { clock, cwd } = app.context;
  return openState(resolve(cwd, file), { clock, folder: "theirs" });
}

/**
 * The paths of the state files of a command, whether or not they exist: of the profile, if any, and of
 * `--ledger FILE`.
 */
export async function stateFiles(app: Asker, ledger: string | undefined): Promise<string[]> {
  const own = ledger === undefined ? null : resolve(app.context.cwd, ledger);
  return [await profileStatePath(app), own].filter((path) => path !== null);
}

/**
 * The folder with the states of all profiles, and the config file next to it, whether or not they exist or
 * are used.
 */
export async function ownPlaces({
  context: { env, cwd },
}: Asker): Promise<{ states: string; config: string }> {
  const { configPath } = await import("../settings/profiles.ts");
  const home = env.CAT_HOME;
  const config = home ? resolve(cwd, home, "config.json") : await configPath(env);
  return { states: join(dirname(config), "state"), config };
}

/** The path of the state of the profile in use; null with `--mock`. */
export async function profileStatePath({ globals, context: { env, cwd } }: Asker): Promise<string | null> {
  if (globals.mock) return null;
  const named = namedProfile(globals, env);
  const home = env.CAT_HOME;
  const inFolder = (folder: string, profile: string) =>
    join(resolve(cwd, folder), "state", `${profileFileName(profile)}.db`);
  if (named !== null && home !== undefined && home !== "") return inFolder(home, named.name);
  const { readProfiles } = await import("../settings/profiles.ts");
  const profiles = await readProfiles(env);
  return inFolder(dirname(profiles.path), named?.name ?? profiles.active);
}
