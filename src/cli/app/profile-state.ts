import { hash } from "node:crypto";
import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { didYouMean } from "../../contract/did-you-mean.ts";
import { CatError } from "../../errors.ts";
import type { ServiceIdentity } from "../../flows/run/account.ts";
import type { Memory } from "../../flows/run/run.ts";
import type { State } from "../../state/state.ts";
import type { Context } from "../context/context.ts";
import { UsageError } from "../context/errors.ts";
import type { GlobalOptions } from "../context/globals.ts";
import { type HomeContext, homeFolder } from "../settings/home-folder.ts";
import { namedProfile, profileFileName } from "../settings/profile-names.ts";
import { defaultProfile, readProfiles } from "../settings/profiles.ts";
import { type Connection, profileInUse } from "../settings/settings.ts";

export interface Asker {
  readonly context: HomeContext & Pick<Context, "clock" | "cwd">;
  readonly globals: Pick<GlobalOptions, "mock" | "profile">;
}

/**
 * Opens the state of the profile in use, `state/PROFILE.db` next to the config file; creates it if missing.
 * With `--mock` the state is kept in memory only, because the mock service ends with the command. The caller
 * closes it.
 */
export async function openProfileState(app: Asker): Promise<State> {
  const { openState } = await import("../../state/state.ts");
  return openState(await profileStatePath(app), { clock: app.context.clock });
}

/** Opens the state of `--ledger FILE`, created if missing, but not its folder. The caller closes it. */
export async function openStateFile(app: Asker, file: string): Promise<State> {
  const { openState } = await import("../../state/state.ts");
  const { clock, cwd } = app.context;
  return openState(resolve(cwd, file), { clock, folder: "theirs" });
}

/** Opens the ledger to read, or the state of the profile. Throws UsageError if missing. */
export async function openToRead(
  app: Asker & Opener & { onClose(release: () => void): void },
  ledger: string | undefined,
): Promise<State> {
  if (ledger === undefined || app.globals.mock) return app.state();
  await rejectMissingLedger(app, ledger);
  const state = await openStateFile(app, ledger);
  app.onClose(() => state.close());
  return state;
}

/** A ledger is created where it is missing, which would leave an empty file. Throws UsageError. */
export async function rejectMissingLedger(
  { context, globals }: Asker,
  ledger: string | undefined,
): Promise<void> {
  if (ledger === undefined || globals.mock) return;
  if ((await stat(resolve(context.cwd, ledger)).catch(() => null)) !== null) return;
  throw new UsageError(`cannot read --ledger ${ledger}: it does not exist`, {
    param: "--ledger",
    hint: "Choose the file that the import had.",
  });
}

/** The paths of the state files of a command: of the profile, if any, and of `--ledger FILE`. */
export async function stateFiles(app: Asker, ledger: string | undefined): Promise<string[]> {
  const own = ledger === undefined ? null : resolve(app.context.cwd, ledger);
  return [await profileStatePath(app), own].filter((path) => path !== null);
}

/** The folder of the states of all profiles, and the config file, whether or not they exist. */
export async function ownPlaces({ context }: Asker): Promise<{ states: string; config: string }> {
  const folder = await homeFolder(context);
  return { states: join(folder, "state"), config: join(folder, "config.json") };
}

/** The path of the state of the profile in use; null with `--mock`. */
export async function profileStatePath({ globals, context }: Asker): Promise<string | null> {
  if (globals.mock) return null;
  const named = namedProfile(globals, context.env);
  const { states } = await ownPlaces({ globals, context });
  // The settings are not read for a profile that a flag or a variable names.
  const profile = named?.name ?? (await readProfiles(context)).active;
  return join(states, `${profileFileName(profile)}.db`);
}

interface Opener {
  state(): Promise<State>;
  connection(): Promise<Connection>;
}

/** Where runs of the profile are remembered, and for which service. */
export async function memoryOfProfile(app: Opener): Promise<Memory> {
  const state = await app.state();
  return { state, sentJobs: state.sentJobs, service: await identifyService(app) };
}

/** The service and the key in use; of the key only a digest. */
export async function identifyService(app: Opener): Promise<ServiceIdentity> {
  const { baseUrl, apiKey } = await app.connection();
  return { baseUrl, keyFingerprint: hash("sha256", apiKey).slice(0, 32) };
}

/**
 * The note for an import with a profile that is not in the settings, while its ledger has nothing about the
 * service: a mistyped name would add all photos a second time. Null for any other profile, and for the
 * default one.
 */
export async function newProfileNote(
  app: Asker,
  { accounts, ledger, batches }: State,
  baseUrl: string,
): Promise<string | null> {
  const isKnown = (account: number) => !ledger.isEmpty(account) || batches.anyUnsettled(account);
  if (app.globals.mock || accounts.at(baseUrl).some(isKnown)) return null;
  try {
    const { name, settings, profiles } = await profileInUse(app.globals, app.context);
    if (name === defaultProfile || settings !== null) return null;
    const meant = didYouMean(name, profiles.names);
    const question = meant.length === 0 ? "" : ` Did you mean ${meant.join(" or ")}?`;
    return `Profile ${name} is not in the settings; it starts with an empty ledger.${question}`;
  } catch (error) {
    // A profile that a flag or a variable names needs no settings.
    if (error instanceof CatError) return null;
    throw error;
  }
}
