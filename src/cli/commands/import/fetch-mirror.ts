import { createWriteStream, rmSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import pLimit from "p-limit";
import { readBucketAddress } from "../../../flows/bucket/address.ts";
import { pathComponents } from "../../../flows/export/sync/mirror-folders.ts";
import { completeIndex } from "../../../flows/export/sync/mirror-state.ts";
import { temporaryFolder, temporaryProblem } from "../../../flows/files/temporary-folder.ts";
import type { App } from "../../app/app.ts";
import { openBucket } from "../../files/open-bucket.ts";
import type { ImportFlags } from "./flags.ts";
import { readIndex } from "./mirror.ts";

/**
 * Copies the index and the photos of a mirror in a bucket to a folder, which is removed when the command ends; resolves to its
 * path. A missing photo is a problem of its row, as in any mirror.
 */
export async function fetchMirror(app: App, flags: ImportFlags): Promise<string> {
  const address = readBucketAddress(flags.file);
  const bucket = openBucket(app, address, flags);
  const scratch = temporaryFolder("copy the mirror to");
  app.onClose(async () => rmSync(scratch, { recursive: true, force: true }));
  // Its name is in the rows, by which a stopped import is found again.
  const folder = join(scratch, basename(`${address.bucket}/${address.prefix}`));
  const copy = async (path: string) => {
    const found = await bucket.get(path);
    const to = join(folder, ...pathComponents(path));
    try {
      await mkdir(dirname(to), { recursive: true });
      if (found !== null) await pipeline(found.body, createWriteStream(to));
    } catch (error) {
      const isOfDisk = (error as NodeJS.ErrnoException).syscall !== undefined;
      throw isOfDisk ? temporaryProblem("copy the mirror to", error) : error;
    }
  };
  await copy(completeIndex);
  const { products } = await readIndex(folder, flags.file);
  const photos = [...products.values()].flatMap(({ photos }) => photos);
  const progress = await app.io.progress();
  const limit = pLimit(flags.concurrency);
  let done = 0;
  try {
    await limit.map(photos, async ({ path }) => {
      await copy(path);
      progress.update({ step: "copying photos of the mirror", done: ++done, total: photos.length });
    });
  } finally {
    limit.clearQueue();
    progress.end();
  }
  return folder;
}
