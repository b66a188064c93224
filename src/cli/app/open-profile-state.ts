import { dirname, join, resolve } from "node:path";
import type { State } from "../../state/state.ts";
import type { Context } from "../context/context.ts";
import type { GlobalOptions } from "../context/global-options.ts";
import { profileFileName } from "../settings/profile-file-name.ts";
import { namedProfile } from "../settings/profile-name.ts";

/** As much of the app as tells where its state is. */
export interface Asker {
  readonly context: Pick<Context, "clock" | "cwd" | "env">;
  readonly globals: Pick<GlobalOptions, "mock" | "profile">;
}

/**
 * Opens what this machine remembers for the profile in use, made when it is missing: `state/PROFILE.db` beside the config
 * file. With `--mock` it is kept in memory, as the service that it is about is gone at the end. The caller closes it.
 */
export async function openProfileState(app: Asker): Promise<State> {
  const { openState } = await import("../../state/open-state.ts");
  return openState(await profileStatePath(app), { clock: app.context.clock });
}

/** Opens the state in the file of `--ledger FILE`, made when it is missing; its folder is left as it is. The caller closes it. */
export async function openStateFile(app: Asker, file: string): Promise<State> {
  const { openState } = await import("../../state/open-state.ts");
  const { clock, cwd } = app.context;
  return openState(resolve(cwd, file), { clock, folder: "theirs" });
}

/** The files that the state of a command is kept in, whether or not they exist: the profile's, if any, and that of `--ledger FILE`. */
export async function stateFiles(app: Asker, ledger: string | undefined): Promise<string[]> {
  const own = ledger === undefined ? null : resolve(app.context.cwd, ledger);
  return [await profileStatePath(app), own].filter((path) => path !== null);
}

/** The folder of the profiles' states, and the config file beside it, whether or not they exist and this call needs them. */
export async function ownPlaces({
  context: { env, cwd },
}: Asker): Promise<{ states: string; config: string }> {
  const { configPath } = await import("../settings/profiles.ts");
  const home = env.CAT_HOME;
  const config = home ? resolve(cwd, home, "config.json") : await configPath(env);
  return { states: join(dirname(config), "state"), config };
}

/** Null with `--mock`. */
async function profileStatePath({ globals, context: { env, cwd } }: Asker): Promise<string | null> {
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
