import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import type { Checkpoint } from "./sidecar.ts";

/** The bytes at the start of a part, and before a checkpoint, whose digest detects changes by other programs. */
const sampleBytes = 64 * 1024;

/** Whether the bytes before each checkpoint are unchanged. */
export async function areUnchanged(handle: FileHandle, checkpoints: readonly Checkpoint[]): Promise<boolean> {
  for (const { bytes, digest } of checkpoints) {
    if ((await sampleDigest(handle, bytes)) !== digest) return false;
  }
  return true;
}

/** A digest of the first and the last bytes up to a length: hashing a file of 500 MB would take seconds. */
export async function sampleDigest(handle: FileHandle, bytes: number): Promise<string> {
  const hash = createHash("sha256");
  const length = Math.min(bytes, sampleBytes);
  for (const position of [0, bytes - length]) {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
    hash.update(buffer.subarray(0, bytesRead));
  }
  return hash.digest("hex").slice(0, 32);
}
