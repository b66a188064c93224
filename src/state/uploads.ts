/** Uploaded photos of this machine, by the SHA-256 (hex) of their bytes. */
export interface Uploads {
  /** The image of the bytes; null if not uploaded, or unknown. */
  imageOf(account: number, sha256: string): string | null;
  /**
   * Records an upload before its bytes are sent and returns the idempotency key to use, with its first use: that of an
   * earlier attempt without an outcome if it started at `notBefore` or later (Unix milliseconds), otherwise `newKey`.
   */
  begin(
    account: number,
    sha256: string,
    attempt: { newKey: string; at: number; notBefore: number },
  ): { key: string; begunAt: number };
  done(account: number, sha256: string, imageId: string): void;
  /** The attempt was rejected, or the image no longer exists: the next upload starts over. */
  forget(account: number, sha256: string): void;
  /** Forgets the images of all of the account's photos. */
  forgetAll(account: number): void;
  /** The image no longer exists at the service. */
  forgetImage(account: number, imageId: string): void;
}
