import { CatError } from "../../errors.ts";

/** A store of API keys, by account: the name of an entry, which is not secret. */
export interface Keychain {
  /** The key; null if the store has none, or is locked and does not say so. Rejects with a KeychainError. */
  read(account: string): Promise<string | null>;
  write(account: string, key: string): Promise<void>;
  /** Resolves whether or not the store had the key. */
  remove(account: string): Promise<void>;
}

/** The keychain of the operating system cannot be used: exit 4. */
export class KeychainError extends CatError {
  override readonly name = "KeychainError";

  constructor(why: string) {
    super(`cannot use the keychain: ${why}`, {
      type: "unauthorized",
      code: "keychain_unavailable",
      hint: "Unlock the keychain and run the command again. Without a keychain, set CAT_API_KEY, or run: cat login --store file",
    });
  }
}
