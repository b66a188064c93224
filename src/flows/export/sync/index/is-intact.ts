import { createHash } from "node:crypto";
import type { MirrorStore } from "../store/mirror-store.ts";
import type { MirrorEntry } from "./mirror-entry.ts";

/** Whether a file has the bytes of its entry. */
export async function isIntact(
  store: Pick<MirrorStore, "stat" | "readParts">,
  { path, bytes, sha256 }: Pick<MirrorEntry, "path" | "bytes" | "sha256">,
): Promise<boolean> {
  if ((await store.stat(path))?.bytes !== bytes) return false;
  const hash = createHash("sha256");
  for await (const chunk of store.readParts(path)) hash.update(chunk);
  return hash.digest("hex") === sha256;
}
