import { hash } from "node:crypto";

/**
 * The first bytes of a text's SHA-256. Buffers of this size made from hex share one memory pool. An import
 * makes millions of them, and separate buffers would take several times their size.
 */
export const shortDigest = (text: string, bytes: number): Buffer =>
  Buffer.from(hash("sha256", text, "hex").slice(0, bytes * 2), "hex");
