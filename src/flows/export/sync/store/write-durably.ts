import { closeSync, fsync, open, writeFileSync } from "node:fs";
import { promisify } from "node:util";
import type { Content } from "./mirror-store.ts";

const openFile = promisify(open);
const syncFile = promisify(fsync);

/**
 * Writes a new file and waits until it is on the disk. Only what waits for the disk goes to the thread pool: for a small
 * image, the way there and back takes longer than the copy that a write is.
 */
export async function writeDurably(path: string, content: Content): Promise<void> {
  const file = await openFile(path, "w");
  try {
    for await (const chunk of content) writeFileSync(file, chunk);
    await syncFile(file);
  } finally {
    closeSync(file);
  }
}
