import { chmod } from "node:fs/promises";
import { dirname } from "node:path";
import { asFileError, CatError, fileProblem } from "../../errors.ts";
import { OutputFile } from "../../flows/files/output-file.ts";
import { makeFolders } from "../../move-file.ts";
import { lockFile, waitForLock } from "../../state/file-lock.ts";
import type { Context } from "../context/context.ts";
import { UsageError, withHint } from "../context/errors.ts";
import type { HomeContext } from "./home-folder.ts";
import { configPath, notAFolder, readConfig } from "./profiles.ts";

/** A JSON object. Keys that this version does not know are kept. */
type Fields = Readonly<Record<string, unknown>>;

/** The time to wait for another process that writes the settings, in milliseconds. */
const patienceMs = 5_000;

type Writer = HomeContext & Pick<Context, "clock">;

/**
 * Changes the config file under a lock and replaces it in one step, so that two processes that write lose no
 * setting and a full disk does not cut the file. Throws UsageError for a file that cannot be read, and leaves
 * it unchanged.
 */
export async function updateConfig(writer: Writer, change: (config: Fields) => Fields): Promise<void> {
  const path = await configPath(writer);
  makeSettingsFolder(dirname(path));
  // The lock file stays, empty: another process may be about to open it.
  const unlock = await lock(`${path}.lock`, path, writer);
  try {
    const stored = await readConfig(path);
    // A replaced file keeps its permissions.
    if (stored !== null) await chmod(path, 0o600);
    // Before the file is begun: a change that fails leaves nothing behind.
    const text = `${JSON.stringify(change({ ...stored }), null, "\t")}\n`;
    // One name for all, under the lock: the next change removes what a killed process left.
    const file = await OutputFile.begin(path, true, "config-new", 0o600);
    await file.write(text);
    await file.commit();
  } finally {
    unlock();
  }
}

/** Changes one profile of the config file, and creates it if missing. */
export const updateProfile = (
  writer: Writer,
  profile: string,
  change: (profile: Fields) => Fields,
): Promise<void> =>
  updateConfig(writer, (config) => {
    const profiles = (config.profiles ?? {}) as Fields;
    const own = Object.hasOwn(profiles, profile) ? (profiles[profile] as Fields) : {};
    const all = Object.fromEntries([...Object.entries(profiles), [profile, change(own)]]);
    return { ...config, profiles: all };
  });

function makeSettingsFolder(folder: string): void {
  try {
    makeFolders(folder, 0o700);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" || code === "ENOTDIR") throw notAFolder(folder, error);
    const failed = asFileError(error);
    const kind = fileProblem(error)?.kind;
    if (!(failed instanceof CatError) || (kind !== "place" && kind !== "denied")) throw error;
    throw withHint(failed, "Set CAT_HOME to a folder that you can write to.");
  }
}

async function lock(file: string, config: string, { clock }: Writer): Promise<() => void> {
  const unlock = await waitForLock(() => lockFile(file), clock, patienceMs);
  if (unlock !== null) return unlock;
  throw new UsageError(`another process is writing the config file ${config}`, {
    code: "config_busy",
    hint: "Wait a moment and run the command again.",
  });
}
