import type { Context } from "../context/context.ts";
import { keyFile } from "./key-file.ts";
import type { KeyOwner, KeyStore } from "./key-store.ts";

/** Where `cat login` can store a key. */
export const keyStoreNames = ["keychain", "file"] as const;
export type KeyStoreName = (typeof keyStoreNames)[number];

/** The store of that name, for the profile; `configFile` is the path of the config file. */
export function openKeyStore(
  name: KeyStoreName,
  profile: string,
  configFile: string,
  context: Pick<Context, "env" | "keychain">,
): KeyStore {
  if (name === "file") return keyFile(profile, configFile);
  // Each settings folder has its own keys: two of them may have a profile of the same name.
  const folder = context.env.CAT_HOME ? ` in ${configFile}` : "";
  const account = ({ profile: owner, origin }: KeyOwner) => `${owner} at ${origin}${folder}`;
  return {
    place: "the keychain",
    read: async (owner) => (await context.keychain()).read(account(owner)),
    write: async (owner, key) => (await context.keychain()).write(account(owner), key),
    remove: async (owner) => (await context.keychain()).remove(account(owner)),
  };
}
