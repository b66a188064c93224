import { createHash, type Hash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import type { Checkpoint } from "./sidecar.ts";

/** The bytes at the start of a part, and before a checkpoint, whose digest detects changes by other programs. */
const sampleBytes = 64 * 1024;
/** The bytes that are read at once. */
const readBytes = 1024 * 1024;

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

/** Adds the first bytes of a file to a digest; false if some are missing. */
export async function hashStart(handle: FileHandle, bytes: number, hash: Hash): Promise<boolean> {
  const buffer = Buffer.allocUnsafe(Math.min(bytes, readBytes));
  for (let position = 0; position < bytes; ) {
    const wanted = Math.min(buffer.length, bytes - position);
    const { bytesRead } = await handle.read(buffer, 0, wanted, position);
    if (bytesRead === 0) return false;
    hash.update(buffer.subarray(0, bytesRead));
    position += bytesRead;
  }
  return true;
}
