import { chmod, readFile, rm, stat } from "node:fs/promises";
import { platform } from "node:os";
import { dirname, join } from "node:path";
import { OutputFile } from "../../flows/files/output-file.ts";
import { makeFolder } from "../../state/state-place.ts";
import { KeyError } from "../context/errors.ts";
import type { KeyStore } from "./key-store.ts";
import { profileFileName } from "./profile-file-name.ts";

/**
 * The key of a profile in `keys/PROFILE.json` next to the config file, 0600 in a folder of 0700: only for
 * `cat login --store file`. A file that others can read is rejected.
 */
export function keyFile(profile: string, configFile: string): KeyStore {
  const name = profileFileName(profile);
  const path = join(dirname(configFile), "keys", `${name}.json`);
  return {
    place: path,
    async read({ origin }) {
      try {
        // Windows has no such modes and reports 0666.
        if (((await stat(path)).mode & 0o077) !== 0 && platform() !== "win32") throw unsafe(path);
        const stored = JSON.parse(await readFile(path, "utf8")) as { origin?: unknown; key?: unknown };
        return stored.origin === origin && typeof stored.key === "string" ? stored.key : null;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
        if (error instanceof SyntaxError || error instanceof TypeError) throw damaged(path);
        throw error;
      }
    },
    async write({ origin }, key) {
      makeFolder(dirname(path));
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
