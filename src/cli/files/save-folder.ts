import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { fileProblem } from "../../errors.ts";
import { isBucketAddress, readBucketAddress } from "../../flows/bucket/address.ts";
import { freeBytesIn } from "../../flows/files/disk.ts";
import {
  type FolderOptions,
  foreignResults,
  writeFolderResults,
} from "../../flows/generate/folder-results.ts";
import type { ImageBucket } from "../../flows/generate/image-bucket.ts";
import type { ResultRow } from "../../flows/generate/result.ts";
import { makeFolders } from "../../move-file.ts";
import { tryToWrite } from "../../open-file.ts";
import type { App } from "../app/app.ts";
import { UsageError } from "../context/errors.ts";
import type { BucketFlags } from "../flags/bucket-flags.ts";
import { rejectFileName } from "../output/output-names.ts";

export interface SavePlace {
  /** The folder; for a bucket, that of this machine which they pass through. */
  readonly folder: string;
  /** Null for a folder. */
  readonly bucket: ImageBucket | null;
  /** Checks that images can be saved, before the service is used. Throws UsageError, or a store's error. */
  check(): Promise<void>;
}

export async function openSavePlace(app: App, name: string, flags: BucketFlags): Promise<SavePlace> {
  if (!isBucketAddress(name)) {
    const folder = resolve(app.context.cwd, name);
    return { folder, bucket: null, check: async () => void (await checkSaveFolder(app, name)) };
  }
  const [{ ImageBucket }, { openBucket }] = await Promise.all([
    import("../../flows/generate/image-bucket.ts"),
    import("./open-bucket.ts"),
  ]);
  const bucket = new ImageBucket(openBucket(app, readBucketAddress(name), flags));
  app.onClose(async () => bucket.close());
  const check = async () => {
    await bucket.open();
    const foreign = await foreignResults(bucket.folder);
    if (foreign !== null) throw foreignIn(name, foreign);
  };
  return { folder: bucket.folder, bucket, check };
}

/** Writes the lists of saved images next to them. */
export async function writeLists(
  { folder, bucket }: SavePlace,
  rows: readonly ResultRow[],
  options: FolderOptions,
): Promise<void> {
  if (bucket === null) await writeFolderResults(folder, rows, options);
  else await bucket.writeLists(rows, options);
}

const unusable = (name: string, why: string): UsageError =>
  new UsageError(`cannot save in ${name}: ${why}`, {
    param: "--save",
    hint: "Choose another folder, for example --save images.",
  });

const foreignIn = (name: string, list: string): UsageError =>
  unusable(name, `${list} in it was not written by this program, and would be replaced`);

/** A disk with less free space counts as full: images are larger, and each is paid for. */
const leastFreeBytes = 1_000_000;

/** Makes the folder of `--save`; it must be writable and its lists of this program. Throws UsageError. */
export async function checkSaveFolder(
  app: App,
  name: string,
  freeBytes: typeof freeBytesIn = freeBytesIn,
): Promise<string> {
  rejectFileName("--save", name, app.context);
  const path = resolve(app.context.cwd, name);
  const reject = (why: string) => unusable(name, why);
  try {
    const stats = await stat(path).catch(() => null);
    if (stats !== null && !stats.isDirectory()) throw reject("it is a file");
    makeFolders(path);
    // Permissions do not tell all: images are paid for once they are queued.
    await tryToWrite(path);
    const free = await freeBytes(path);
    if (free !== null && free < leastFreeBytes) throw reject("its disk is full");
    const foreign = await foreignResults(path);
    if (foreign !== null) throw foreignIn(name, foreign);
    return path;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw reject(fileProblem(error)?.why ?? (error as Error).message);
  }
}
