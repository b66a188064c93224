import { createReadStream, rmSync } from "node:fs";
import { mkdir, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import pLimit from "p-limit";
import { sexes } from "../../../contract/value-sets.ts";
import { isBucketAddress, nameIn, readBucketAddress } from "../../../flows/bucket/address.ts";
import { type MirrorEntry, parseLine } from "../../../flows/export/sync/mirror-entry.ts";
import { pathComponents } from "../../../flows/export/sync/mirror-folders.ts";
import { completeIndex, folderInBucket, hiddenFolder } from "../../../flows/export/sync/mirror-state.ts";
import { temporaryFolder, temporaryProblem } from "../../../flows/files/disk.ts";
import { copiedSource, type FileJob, InputError } from "../../../flows/rows/source.ts";
import { counted } from "../../../flows/words.ts";
import { newFile } from "../../../open-file.ts";
import { shellWord } from "../../../shell-word.ts";
import type { App } from "../../app/app.ts";
import { UsageError } from "../../context/errors.ts";
import { jsonLine } from "../../output/visible.ts";
import type { ImportFlags } from "./flags.ts";
import { nameOfFolder, type PhotoFolder, rejectOutputsIn, rejectSheetFlags } from "./folder.ts";

/** Whether a folder is a mirror of `cat export sync`: only that makes its hidden folder. */
export async function isMirror(folder: string): Promise<boolean> {
  for (const hidden of [hiddenFolder, folderInBucket])
    if ((await stat(join(folder, hidden)).catch(() => null))?.isDirectory()) return true;
  return false;
}

/**
 * The rows of a mirror, a product per reference with local photos; existing products are skipped, as photos
 * would be added twice. `copied`: the copy of a mirror in a bucket. Throws UsageError and InputError.
 */
export async function openMirrorRows(
  app: App,
  flags: ImportFlags,
  job: FileJob,
  copied?: string,
): Promise<PhotoFolder> {
  const { cwd, interrupt } = app.context;
  const folder = copied ?? resolve(cwd, flags.file);
  const file = copied === undefined ? nameOfFolder(flags.file, cwd) : flags.file;
  const { pattern, imagesRoot, imagesFrom } = flags;
  const given = Object.entries({ pattern, "images-root": imagesRoot, "images-from": imagesFrom });
  const [flag] = given.find(([, value]) => value !== undefined) ?? [];
  if (flag !== undefined) {
    throw new UsageError(`cannot use --${flag}: ${file} is a mirror of the catalogue`, {
      param: `--${flag}`,
      hint: `Remove --${flag}: ${completeIndex} names the photos.`,
    });
  }
  rejectOutputsIn(folder, flags, cwd);
  rejectSheetFlags(flags, file);
  const { products, generated, removed } = await readIndex(folder, file);
  const note = (text: string) => app.io.note(app.io.visible(text));
  await note(
    `Reading ${nameIn(file, completeIndex)}: ${file} is a mirror of the catalogue. Products that exist are skipped.`,
  );
  if (generated > 0)
    await note(`${counted(generated, "generated image")} cannot be restored: an import takes photos only.`);
  if (removed > 0) await note(`${counted(removed, "photo")} skipped: the catalogue no longer had them.`);
  await note("A mirror has no descriptions: import a sheet of cat products export for them.");
  if (products.size === 0)
    throw new InputError(
      `${file} has no photos to restore`,
      "no_photos",
      "Choose a mirror that has the role source.",
    );
  const digests = new Map<string, string>();
  const rows = Readable.from(readRows(products, basename(folder), digests));
  const place = { job, cwd, stdin: () => app.context.stdin, format: "ndjson", signal: interrupt } as const;
  const source = await copiedSource(file, rows, { path: folder, place: folder }, place);
  const mode = flags.mode === "upsert" ? "skip_existing" : flags.mode;
  const listing = { folder, paths: [], others: { count: 0, example: "" }, sheets: [] };
  return {
    // Files about the rows are named after the last part of a bucket's address.
    flags: { ...flags, file: copied === undefined ? file : basename(copied), mode, photos: "all" },
    listing,
    pattern: null,
    source,
    hasNames: true,
    digests,
  };
}

/**
 * Copies the index and photos of a mirror in a bucket to a folder, removed when the command ends; resolves to
 * its path. A missing photo is a problem of its row, as in any mirror.
 */
export async function fetchMirror(app: App, flags: ImportFlags): Promise<string> {
  const address = readBucketAddress(flags.file);
  const { openBucket } = await import("../../files/open-bucket.ts");
  const bucket = openBucket(app, address, flags);
  const scratch = temporaryFolder("copy the mirror to");
  app.onClose(async () => rmSync(scratch, { recursive: true, force: true }));
  // Its name is in the rows, by which a stopped import is found again.
  const folder = join(scratch, basename(`${address.bucket}/${address.prefix}`));
  const copy = async (path: string) => {
    const object = await bucket.get(path);
    const to = join(folder, ...pathComponents(path));
    try {
      await mkdir(dirname(to), { recursive: true });
      if (object !== null) await save(object.body, to);
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

async function save(body: AsyncIterable<Uint8Array>, path: string): Promise<void> {
  const file = await newFile(path);
  try {
    for await (const bytes of body) await file.write(bytes);
  } finally {
    await file.close();
  }
}

interface MirrorProduct {
  readonly name: string;
  /** Null where the service takes no such value. */
  readonly sex: string | null;
  readonly photos: Pick<MirrorEntry, "path" | "sha256" | "attributes">[];
}

/** The products of the index in a folder, with their photos. Throws InputError. */
async function readIndex(folder: string, file: string) {
  const path = join(folder, completeIndex);
  if ((await stat(path).catch(() => null)) === null) {
    throw new InputError(
      `${file} has no ${completeIndex}`,
      "incomplete_mirror",
      isBucketAddress(file)
        ? "Check its name. A mirror in shards is complete when all shards have ended: cat export sync --shard I/N."
        : `Check its name. To complete a mirror, run: cat export sync ${shellWord(file)} (add --merge for one in shards)`,
    );
  }
  const products = new Map<string, MirrorProduct>();
  let [line, generated, removed] = [0, 0, 0];
  for await (const text of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    line++;
    const entry = parseLine(text);
    if (entry === null) {
      throw new InputError(
        `line ${line} of ${nameIn(file, completeIndex)} is not a line of a mirror`,
        "damaged_mirror",
        `Restore the file from a backup, or write it again: cat export sync ${shellWord(file)}`,
      );
    }
    const { reference, name, sex, role, path: photo, sha256, attributes } = entry;
    pathComponents(photo);
    if (role !== "source") generated++;
    else if (entry.removed === true) removed++;
    else if (reference !== null) {
      const product = products.get(reference) ?? {
        name: name ?? reference,
        sex: sexes.find((known) => known === sex) ?? null,
        photos: [],
      };
      product.photos.push({ path: photo, sha256, attributes });
      products.set(reference, product);
    }
  }
  return { products, generated, removed };
}

/** Rows with paths relative to the folder of the mirror. Notes the `digests` of these paths. */
function* readRows(
  products: ReadonlyMap<string, MirrorProduct>,
  folder: string,
  digests: Map<string, string>,
): Generator<string> {
  for (const [reference, { name, sex, photos }] of products) {
    const images = photos.map(({ path, sha256, attributes: { orientation } }) => {
      const inRow = `${folder}/${path}`;
      digests.set(inRow, sha256);
      return {
        path: inRow,
        ...(typeof orientation === "string" && orientation !== "unlabeled" && { orientation }),
      };
    });
    yield jsonLine({ reference, name, ...(sex !== null && { sex }), images });
  }
}
