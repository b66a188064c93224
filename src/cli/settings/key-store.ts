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
