// The file of a sandbox: one process at a time saves it, and never over the state of another one.

import { createHash, hash } from "node:crypto";
import { createReadStream, existsSync, rmSync } from "node:fs";
import { stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, extname, join, resolve } from "node:path";
import { readPlainFile } from "../../../flows/files/disk.ts";
import { makePrivateFolder, newFile } from "../../../open-file.ts";
import { shellWord } from "../../../shell-word.ts";
import { lockTemporaryFile } from "../../../state/file-lock.ts";
import type { App } from "../../app/app.ts";
import { UsageError } from "../../context/errors.ts";
import { readFilePlace } from "../../files/places.ts";

/** The files that a sandbox loads and saves, as typed. */
interface SandboxNames {
  readonly load: string | undefined;
  readonly save: string;
}

/** The file of `--save`, which this process has locked. */
export class SandboxFile {
  readonly #path: string;
  readonly #names: SandboxNames;
  readonly #lock: string;
  /** The digest of the loaded file; null if it did not exist, undefined if it was not loaded. */
  readonly #known: string | null | undefined;

  private constructor(path: string, names: SandboxNames, lock: string, known: string | null | undefined) {
    this.#path = path;
    this.#names = names;
    this.#lock = lock;
    this.#known = known;
  }

  /** Locks the file until the command ends. Throws UsageError with the address of another sandbox. */
  static async open(app: App, names: SandboxNames): Promise<SandboxFile> {
    const { cwd, onStop } = app.context;
    const path = resolve(cwd, names.save);
    const lock = await lockPath(app, path);
    const unlock = await locked(lock);
    if (unlock === null) throw await alreadyRunning(app, names.save, lock);
    // A killed sandbox left its address.
    rmSync(`${lock}.url`, { force: true });
    const release = () => {
      rmSync(`${lock}.url`, { force: true });
      unlock();
    };
    app.onClose(release);
    app.onClose(onStop(() => rmSync(`${lock}.url`, { force: true })));
    const now = await digestOf(path);
    const isLoaded = names.load !== undefined && (await lockPath(app, resolve(cwd, names.load))) === lock;
    return new SandboxFile(path, names, lock, isLoaded || now === null ? now : undefined);
  }

  /** Tells other processes where this sandbox is. */
  async announce(address: string): Promise<void> {
    try {
      const file = await newFile(`${this.#lock}.url`);
      await file.write(address).finally(() => file.close());
    } catch {
      // The lock holds without it.
    }
  }

  /** Where to save: the file if it is the loaded one, or `mayReplace`; else next to it, as the note says. */
  async target(mayReplace: boolean): Promise<{ path: string; note: [message: string, hint: string] | null }> {
    const now = await digestOf(this.#path);
    if (mayReplace || now === null || now === this.#known) return { path: this.#path, note: null };
    const { save } = this.#names;
    const free = nextFree(this.#path);
    const name = join(dirname(save), basename(free));
    const why = this.#known === undefined ? "was not loaded" : "was changed by another program";
    const flags = `--load ${shellWord(name)} --save ${shellWord(name)}`;
    const note = [
      `${save} ${why}, and stays: the state is saved to ${name}`,
      `To continue it: cat serve --mock ${flags}`,
    ];
    return { path: free, note: note as [string, string] };
  }

  /** A warning for the start if the file will not be replaced; null if it will. */
  warning(mayReplace: boolean): string | null {
    if (mayReplace || this.#known !== undefined) return null;
    const { save } = this.#names;
    return `${save} is not loaded: the state will be saved to ${basename(nextFree(this.#path))}. To continue ${save}, add --load ${shellWord(save)}; to replace it, --yes.`;
  }
}

/** Throws UsageError, with the address, if a sandbox is running that saves the file of `--load`. */
export async function rejectRunning(app: App, load: string): Promise<void> {
  const lock = await lockPath(app, resolve(app.context.cwd, load));
  // Many processes may load one file at once, so none of them locks it.
  if (!existsSync(`${lock}.url`)) return;
  const unlock = await locked(lock);
  if (unlock === null) throw await alreadyRunning(app, load, lock);
  rmSync(`${lock}.url`, { force: true });
  unlock();
}

/** The lock of a file, in a folder of the user: a folder of pictures and sheets is no place for it. */
async function lockPath({ context: { who } }: App, path: string): Promise<string> {
  const { folder, name } = await readFilePlace(path);
  const digest = (text: string) => hash("sha256", text).slice(0, 16);
  return join(tmpdir(), `catalogue-sandboxes-${digest(who?.() ?? "")}`, digest(`${folder}/${name}`));
}

/** Locks the file, where possible: a file that was saved meanwhile is not replaced in any case. */
async function locked(path: string): Promise<(() => void) | null> {
  try {
    makePrivateFolder(dirname(path));
    return await lockTemporaryFile(path);
  } catch {
    return () => {};
  }
}

async function alreadyRunning(
  { context: { cwd }, io }: App,
  name: string,
  lock: string,
): Promise<UsageError> {
  const address = await readPlainFile(`${lock}.url`);
  const where = dirname(resolve(cwd, name)) === cwd ? "in this folder" : `with ${io.visible(name)}`;
  const at = address === null ? "" : ` at ${address}: use it`;
  return new UsageError(`a sandbox is already running ${where}${at}`, {
    code: "sandbox_running",
    hint: `${address === null ? "Wait for its address" : `Set CAT_BASE_URL=${address}`}, or choose another file than ${io.visible(name)}.`,
  });
}

/** The digest of a regular file; null for anything else. */
async function digestOf(path: string): Promise<string | null> {
  if ((await stat(path).catch(() => null))?.isFile() !== true) return null;
  const digest = createHash("sha256");
  for await (const chunk of createReadStream(path)) digest.update(chunk as Buffer);
  return digest.digest("hex");
}

/** `sandbox.2.json`, or the next number without a file. */
function nextFree(path: string): string {
  const ending = extname(path);
  const stem = path.slice(0, path.length - ending.length);
  for (let number = 2; ; number++) {
    const free = `${stem}.${number}${ending}`;
    if (!existsSync(free)) return free;
  }
}
