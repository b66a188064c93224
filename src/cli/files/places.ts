import { constants, existsSync, type Stats } from "node:fs";
import { access, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { fileProblem } from "../../errors.ts";
import { fileStart } from "../../flows/files/disk.ts";
import { whereLinksLead } from "../../flows/files/file-names.ts";
import { whyNotChanged } from "../../open-file.ts";
import { applicationId } from "../../state/migrations.ts";
import { isNameOfState } from "../../state/state-place.ts";
import { type Asker, ownPlaces, stateFiles } from "../app/profile-state.ts";
import { UsageError } from "../context/errors.ts";
import { outputFormat } from "../output/output-names.ts";

/** The file that a path leads to through links, and its folder; the file may not exist yet. */
export interface FilePlace {
  /** The path without links. */
  readonly path: string;
  readonly identity: string;
  readonly folder: string;
  readonly name: string;
}

export async function readFilePlace(path: string): Promise<FilePlace> {
  const end = await whereLinksLead(path);
  const toId = ({ dev, ino }: Stats) => `${dev}:${ino}`;
  const inFolder = await stat(dirname(end)).catch(() => null);
  const [folder, name] = [inFolder === null ? dirname(end) : toId(inFolder), basename(end)];
  const stats = await stat(end).catch(() => null);
  // Devices and pipes are compared by name, because they can be read and written at the same time.
  return { path: end, identity: stats?.isFile() ? toId(stats) : `${folder}/${name}`, folder, name };
}

/** A text that is equal for two paths to the same file. */
export const readIdentity = async (path: string): Promise<string> => (await readFilePlace(path)).identity;

/** The same for a regular file; null for anything else, because two outputs can share a terminal. */
export async function identityOfFile(path: string): Promise<string | null> {
  return (await stat(path).catch(() => null))?.isFile() ? readIdentity(path) : null;
}

export interface WritablePlace {
  readonly found: Stats | null;
  /** The reason, as a clause. */
  readonly problem: string | null;
  /** The next step, if not to choose another path. */
  readonly hint?: string | undefined;
}

/** Whether a path can be written as a regular file: the output cannot be created a second time. */
export async function writablePlace(path: string): Promise<WritablePlace> {
  let stats: Stats | null = null;
  const rejected = (problem: string, hint?: string) => ({ found: stats, problem, hint });
  try {
    stats = await stat(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EACCES") return rejected(folderDenied);
    if (code !== "ENOENT") return rejected(fileProblem(error)?.why ?? code ?? "");
  }
  if (stats !== null && !stats.isFile()) return rejected(fileKind(stats));
  // The file would be replaced, while the shell that opened it expects writes to the descriptor.
  if (descriptor.test(path)) return rejected("it is a descriptor; use the path of a file");
  const [problem, hint] = (stats !== null && (await whyNotReplaced(path))) || [];
  if (problem !== undefined) return rejected(problem, hint);
  // The output is written to a file next to it, after links are resolved, and then renamed.
  const fault = await whyNotWritten(dirname(await whereLinksLead(path)));
  if (fault !== null) return rejected(fault === "ENOENT" ? "its folder does not exist" : folderDenied);
  return { found: stats, problem: null };
}

async function whyNotReplaced(path: string): Promise<readonly [problem: string, hint?: string] | null> {
  // A read-only file could be replaced, but a shell's `>` would not write it either.
  if ((await whyNotWritten(path)) !== null) return ["permission denied"];
  const inUse = whyNotChanged(path) === "EBUSY" ? fileProblem({ code: "EBUSY" }) : null;
  return inUse && [inUse.why, inUse.hint];
}

const descriptor = /^\/(?:dev\/(?:fd\/|std)|proc\/)/;

const folderDenied = "permission denied for its folder";

function fileKind(stats: Stats): string {
  if (stats.isDirectory()) return "it is a folder";
  return stats.isFIFO() ? "it is a pipe" : stats.isSocket() ? "it is a socket" : "it is a device";
}

/** The error code that writing to a path would give; null if it can be written. */
const whyNotWritten = (path: string): Promise<string | null> =>
  access(path, constants.W_OK).then(
    () => null,
    ({ code }: NodeJS.ErrnoException) => code ?? "",
  );

/**
 * A check whether a path is a data file of this program (config, state folder, state in use, other ledgers),
 * with `--mock` too. Throws UsageError if `--ledger` is the config file, which would be overwritten.
 */
export async function ownFiles(
  app: Asker,
  ledger: string | undefined,
): Promise<(place: FilePlace) => Promise<boolean>> {
  const own = await ownPlaces(app);
  const { folder: ownFolder } = await readFilePlace(join(own.states, "any"));
  const config = await readIdentity(own.config);
  const states = await Promise.all((await stateFiles(app, ledger)).map(readFilePlace));
  if (states.some(({ identity }) => identity === config)) {
    const hint = "Choose another file, for example --ledger ledger.db.";
    throw new UsageError(`cannot use --ledger ${ledger}: it is the config file of this program`, {
      param: "--ledger",
      hint,
    });
  }
  // A ledger that exists is known by its content.
  if (ledger !== undefined && !existsSync(resolve(app.context.cwd, ledger)))
    outputFormat("--ledger", ledger, ["ledger"]);
  return async (place) =>
    place.folder === ownFolder ||
    place.identity === config ||
    states.some((state) => isOfState(place, state)) ||
    (await isOfSomeState(place));
}

const isOfState = (output: FilePlace, state: FilePlace): boolean =>
  output.identity === state.identity ||
  (output.folder === state.folder && isNameOfState(output.name, state.name));

/** Whether a file is a state of this program or an SQLite companion of one, used by this command or not. */
async function isOfSomeState({ path, name }: FilePlace): Promise<boolean> {
  const mains = Array.from(name, (_, at) => name.slice(0, at + 1)).filter((main) =>
    isNameOfState(name, main),
  );
  for (const main of mains) if (await isState(join(path, "..", main))) return true;
  return false;
}

/** The place of the application ID in an SQLite file: 4 bytes, big-endian (Database File Format, 1.3). */
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
