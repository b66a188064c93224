import { createHash } from "node:crypto";

/**
 * What makes a run the same as an earlier one, as one SHA-256 (hex): digests of its input and every option that changes what is
 * sent. Where the input is, and what is asked of the output, does not matter. Parts are plain JSON values in a fixed order.
 */
export const runIdentity = (parts: readonly unknown[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex");
