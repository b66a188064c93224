/** Photos of this machine that were uploaded, by the SHA-256 (hex) of their bytes. */
export interface Uploads {
  /** The image that the bytes became; null while they were not, or it is not known. */
  imageOf(account: number, sha256: string): string | null;
  /**
   * Written down before the bytes are sent: gives the idempotency key to send them under, which is that of an earlier
   * attempt without an outcome if it was begun at `notBefore` or later (Unix milliseconds), else `newKey`.
   */
  begin(account: number, sha256: string, attempt: { newKey: string; at: number; notBefore: number }): string;
  done(account: number, sha256: string, imageId: string): void;
  /** The attempt was refused, or the image is not there any more: the next one begins anew. */
  forget(account: number, sha256: string): void;
  /** What the account's photos became is not known any more. */
  forgetAll(account: number): void;
  /** That image is not at the service any more. */
  forgetImage(account: number, imageId: string): void;
}
