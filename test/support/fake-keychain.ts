import { type Keychain, KeychainError } from "../../src/cli/context/os-keychain.ts";

/** A keychain in memory, which counts its requests and can fail. */
export class FakeKeychain implements Keychain {
  readonly keys = new Map<string, string>();
  requests = 0;
  /** Set to make every request fail. */
  problem: string | null = null;

  async read(account: string): Promise<string | null> {
    this.#begin();
    return this.keys.get(account) ?? null;
  }

  async write(account: string, key: string): Promise<void> {
    this.#begin();
    this.keys.set(account, key);
  }

  async remove(account: string): Promise<void> {
    this.#begin();
    this.keys.delete(account);
  }

  #begin(): void {
    this.requests++;
    if (this.problem !== null) throw new KeychainError(this.problem);
  }
}
