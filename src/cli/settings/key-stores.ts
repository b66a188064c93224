import { chmod, readFile, rm, stat } from "node:fs/promises";
import { platform } from "node:os";
import { dirname, join } from "node:path";
import { OutputFile } from "../../flows/files/output-file.ts";
import { parseJson } from "../../json.ts";
import { makeFolders } from "../../move-file.ts";
import type { Context } from "../context/context.ts";
import { KeyError } from "../context/errors.ts";
import { isSet, profileFileName } from "./profile-names.ts";
import type { KeyStoreName } from "./profiles.ts";

/** The owner of a stored key: a profile, and the only origin that the key is sent to. */
export interface KeyOwner {
  readonly profile: string;
  readonly origin: string;
}

/** A store of API keys. Its methods reject with a CatError of type `unauthorized` or `file`. */
export interface KeyStore {
  /** For people, e.g. `the keychain`. */
  readonly place: string;
  read(owner: KeyOwner): Promise<string | null>;
  write(owner: KeyOwner, key: string): Promise<void>;
  /** Resolves whether or not the store had a key. */
  remove(owner: KeyOwner): Promise<void>;
}

/** The store of that name, for the profile; `configFile` is the path of the config file. */
export function openKeyStore(
  name: KeyStoreName,
  profile: string,
  configFile: string,
  context: Pick<Context, "env" | "keychain">,
): KeyStore {
  if (name === "file") return keyFile(profile, configFile);
  // Each settings folder has its own keys: two of them may have a profile of the same name.
  const folder = isSet(context.env.CAT_HOME) ? ` in ${configFile}` : "";
  const account = ({ profile: owner, origin }: KeyOwner) => `${owner} at ${origin}${folder}`;
  return {
    place: "the keychain",
    read: async (owner) => (await context.keychain()).read(account(owner)),
    write: async (owner, key) => (await context.keychain()).write(account(owner), key),
    remove: async (owner) => (await context.keychain()).remove(account(owner)),
  };
}

/** The key in `keys/PROFILE.json` (`--store file`), 0600 in 0700. One that others can read is rejected. */
function keyFile(profile: string, configFile: string): KeyStore {
  const name = profileFileName(profile);
  const path = join(dirname(configFile), "keys", `${name}.json`);
  return {
    place: path,
    async read({ origin }) {
      try {
        // Windows has no such modes and reports 0666.
        if (((await stat(path)).mode & 0o077) !== 0 && platform() !== "win32") throw unsafe(path);
        const stored = parseJson(await readFile(path, "utf8")) as { origin?: unknown; key?: unknown };
        return stored.origin === origin && typeof stored.key === "string" ? stored.key : null;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
        if (error instanceof SyntaxError || error instanceof TypeError) throw damaged(path);
        throw error;
      }
    },
    async write({ origin }, key) {
      makeFolders(dirname(path), 0o700);
      await chmod(dirname(path), 0o700);
      // An older file may be open to others, and a replaced file keeps its permissions.
      await rm(path, { force: true });
      const file = await OutputFile.begin(path, true, `${name.slice(0, 100)}-new`, 0o600);
      await file.write(`${JSON.stringify({ origin, key })}\n`);
      await file.commit();
      await chmod(path, 0o600);
    },
    remove: () => rm(path, { force: true }),
  };
}

const unsafe = (path: string): KeyError =>
  new KeyError(`the key file ${path} can be read by other users`, {
    code: "key_file_not_private",
    hint: `Run: chmod 600 ${path}`,
  });

const damaged = (path: string): KeyError =>
  new KeyError(`the key file ${path} is damaged`, {
    code: "key_file_damaged",
    hint: "Run: cat login --store file",
  });
