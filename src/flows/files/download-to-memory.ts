import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Client } from "../../client/client.ts";
import { partName } from "./file-names.ts";

type DownloadTarget = Parameters<Client["downloadInto"]>[0];
type Version = Parameters<DownloadTarget["begin"]>[0];

/** What a kill may cost a file: a smaller one is not worth a part on the disk. */
export const mostInMemory = 4 * 1024 * 1024;

/** Ends the download of a file that is larger, or of unknown length. */
class TooLarge extends Error {}

/** Gathers a file; one that is cut off continues where it was, in this process alone. */
class MemoryTarget implements DownloadTarget {
  readonly kept = null;
  chunks: Uint8Array[] = [];

  async begin({ total }: Version): Promise<void> {
    if (total === null || total > mostInMemory) throw new TooLarge();
    this.chunks = [];
  }

  write(chunk: Uint8Array): undefined {
    this.chunks.push(chunk);
  }
}

/**
 * The chunks of a complete small file; null for one that is larger than `mostInMemory`, or that an earlier process has
 * begun to download to `path`. Throws what `client.downloadInto` throws.
 */
export async function downloadToMemory(
  client: Pick<Client, "downloadInto">,
  { path, ...download }: Parameters<Client["downloadInto"]>[1] & { path: string },
): Promise<readonly Uint8Array[] | null> {
  if (existsSync(join(dirname(path), partName(basename(path))))) return null;
  const target = new MemoryTarget();
  try {
    await client.downloadInto(target, download);
    return target.chunks;
  } catch (error) {
    if (error instanceof TooLarge) return null;
    throw error;
  }
}
