import { stat } from "node:fs/promises";
import { join } from "node:path";
import { fileStart } from "../../flows/files/disk.ts";
import { applicationId } from "../../state/migrations.ts";
import { isNameOfState } from "../../state/state-place.ts";
import { type Asker, ownPlaces, stateFiles } from "../app/profile-state.ts";
import { UsageError } from "../context/errors.ts";
import { identityOf, type Standing, standingOf } from "./places.ts";

/**
 * Returns a check whether a path is a data file of this program: the config file, any file in the state
 * folder, the state files in use, and any other ledger. With `--mock` too, although it uses none of them.
 * Throws UsageError if `--ledger` is the config file, which would be overwritten.
 */
export async function ownFiles(
  app: Asker,
  ledger: string | undefined,
): Promise<(standing: Standing) => Promise<boolean>> {
  const own = await ownPlaces(app);
  const { folder: ownFolder } = await standingOf(join(own.states, "any"));
  const config = await identityOf(own.config);
  const states = await Promise.all((await stateFiles(app, ledger)).map(standingOf));
  if (states.some(({ identity }) => identity === config)) {
    const hint = "Choose another file, for example --ledger ledger.db.";
    throw new UsageError(`cannot use --ledger ${ledger}: it is the config file of this program`, {
      param: "--ledger",
      hint,
    });
  }
  return async (standing) =>
    standing.folder === ownFolder ||
    standing.identity === config ||
    states.some((state) => isOfState(standing, state)) ||
    (await isOfSomeState(standing));
}

const isOfState = (output: Standing, state: Standing): boolean =>
  output.identity === state.identity ||
  (output.folder === state.folder && isNameOfState(output.name, state.name));

/**
 * Whether a file is a state of this program or an SQLite companion of one, even if this command does not use
 * it.
 */
async function isOfSomeState({ path, name }: Standing): Promise<boolean> {
  const mains = Array.from(name, (_, at) => name.slice(0, at + 1)).filter((main) =>
    isNameOfState(name, main),
  );
  for (const main of mains) if (await isState(join(path, "..", main))) return true;
  return false;
}

/**
 * The offset of the application ID in the header of an SQLite file (SQLite, Database File Format, 1.3): 4
 * bytes, big-endian.
 */
const applicationIdAt = 68;

async function isState(path: string): Promise<boolean> {
  // Only files are opened: opening a pipe would wait for its writer.
  if ((await stat(path).catch(() => null))?.isFile() !== true) return false;
  const header = await fileStart(path, applicationIdAt + 4).catch(() => Buffer.alloc(0));
  return (
    header.toString("latin1", 0, 16) === "SQLite format 3\0" &&
    header.length === applicationIdAt + 4 &&
    header.readUInt32BE(applicationIdAt) === applicationId
  );
}
