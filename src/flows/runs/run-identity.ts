import { createHash } from "node:crypto";

/**
 * Identifies a run across restarts, as one SHA-256 (hex): digests of its input, and every option that changes
 * what is sent. The path of the input and output options do not count. Parts are plain JSON values in a fixed
 * order.
 */
export const runIdentity = (parts: readonly unknown[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex");
