import { hash } from "node:crypto";

/**
 * The first bytes of a text's SHA-256. Made from hex, as such small buffers share their memory: one of its own for each of the
 * millions that an import makes would take several times their size.
 */
export const shortDigest = (text: string, bytes: number): Buffer =>
  Buffer.from(hash("sha256", text, "hex").slice(0, bytes * 2), "hex");
