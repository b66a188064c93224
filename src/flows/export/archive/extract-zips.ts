// Extracting: every entry of every archive is judged, then all are written; the folder is complete or absent.

import { readFileSync } from "node:fs";
import { lstat, mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { crc32 } from "node:zlib";
import pLimit from "p-limit";
import { CatError } from "../../../errors.ts";
import { syncFolder } from "../../../move-file.ts";
import { newFile, type OpenFile, rewriteFile } from "../../../open-file.ts";
import { labelSplices, splicedChunks } from "../../files/ai-label.ts";
import { OutputError } from "../../files/disk.ts";
import { realPath } from "../../files/file-names.ts";
import { imageInMemory } from "../../files/image-bytes.ts";
import { SyncBatches, type WaitingFile } from "../../files/sync-batches.ts";
import type { DigitalSource } from "../../files/xmp.ts";
import type { ProgressEvent } from "../../progress-event.ts";
import { ExtractPlan, type PlannedFile, type RenamedFile } from "./extract-plan.ts";
import { ArchiveError, asArchiveError, openZip, shownEntry, type Zip } from "./zip.ts";

/** Before any request: throws an OutputError (exit 2) unless the `--extract` folder is missing or empty. */
export async function checkExtractFolder(dir: string): Promise<void> {
  try {
    const isMissing = await lstat(dir).then(() => false, missingIsTrue);
    if (isMissing) return void (await realPath(dirname(resolve(dir))));
    const path = await realPath(dir);
    const stats = await stat(path);
    if (!stats.isDirectory())
      throw problem(dir, "not_a_folder", "is not a folder", "Choose a new folder with --extract.");
    if ((await readdir(path)).length > 0) {
      const hint = "Choose a new folder with --extract, or empty this one.";
      throw problem(dir, "folder_not_empty", "is not empty", hint);
    }
    const isOfOtherDisk = stats.dev !== (await stat(dirname(path))).dev;
    if (isOfOtherDisk || dirname(path) === path || path === (await realPath("."))) {
      const what = "is the current folder or a disk, which the files cannot replace";
      const hint = `Choose a folder in it, for example --extract ${join(dir, "export")}.`;
      throw problem(dir, "folder_in_use", what, hint);
    }
  } catch (error) {
    throw error instanceof CatError ? error : new OutputError(dir, error as NodeJS.ErrnoException);
  }
}

const missingIsTrue = (error: NodeJS.ErrnoException): true => {
  if (error.code === "ENOENT") return true;
  throw error;
};

const problem = (dir: string, code: string, what: string, hint: string): OutputError =>
  new OutputError(dir, Object.assign(new Error(what), { code }), { what, code, hint });

export interface ExtractionInput {
  /** The archives in their order; `shown` is the name in messages (default: the path). */
  readonly archives: readonly { readonly path: string; readonly shown?: string | undefined }[];
  /** The names of files that are not extracted, by the path of their archive. */
  readonly skipped?: ReadonlyMap<string, ReadonlySet<string>> | undefined;
  /** How the images were made that get a label, by the path of their archive and their name in it. */
  readonly sources?: ReadonlyMap<string, ReadonlyMap<string, DigitalSource>> | undefined;
  /** A new folder, in one that this process has to itself: what a kill left there is removed. */
  readonly dir: string;
  /** The largest file in an archive, in bytes (default: any). */
  readonly maxBytes?: number | undefined;
  readonly signal: AbortSignal;
  readonly onProgress?: ((event: ProgressEvent) => void) | undefined;
}

export interface ExtractionResult {
  readonly files: number;
  readonly bytes: number;
  readonly renamed: readonly RenamedFile[];
  /** How many images cannot have their label, and were written as sent. */
  readonly unlabeled: number;
}

/**
 * Extracts ZIPs into one folder, which appears when all files are on the disk. A file whose name an earlier
 * archive has gets a number: `a-2.jpg`. Throws an ArchiveError (exit 7) for an archive that is damaged or not
 * safe, an OutputError (exit 2) for a folder that cannot be written, and the reason of the signal; nothing is
 * left then.
 */
export async function extractZips({
  archives,
  skipped,
  sources,
  dir,
  maxBytes,
  signal,
  onProgress = () => {},
}: ExtractionInput): Promise<ExtractionResult> {
  const unfinished = `${dir}.part`;
  const zips: Zip[] = [];
  try {
    const plan = new ExtractPlan(maxBytes);
    for (const [done, { path, shown = path }] of archives.entries()) {
      onProgress({ step: "checking archives", done, total: archives.length });
      signal.throwIfAborted();
      const zip = await openZip(path, shown, signal);
      zips.push(zip);
      plan.add(zip, skipped?.get(path), sources?.get(path));
    }
    await rm(unfinished, { recursive: true, force: true });
    await mkdir(unfinished);
    const unlabeled = await writeFiles(plan, unfinished, { signal, onProgress });
    signal.throwIfAborted();
    await rename(unfinished, dir);
    await syncFolder(dirname(dir));
    return { files: plan.files.length, bytes: plan.bytes, renamed: plan.renamed, unlabeled };
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
    const isOfFiles = !(error instanceof CatError) && (error as NodeJS.ErrnoException).syscall !== undefined;
    throw isOfFiles ? new OutputError(dir, error as NodeJS.ErrnoException) : error;
  } finally {
    for (const zip of zips) zip.close();
  }
}

/** Files written at once: twice the threads of Node's pool. */
const writersAtOnce = 8;
/** Bytes between two reports of progress. */
const reportBytes = 4_000_000;

/** A file that is open until it is on the disk; its folder gets its name at the end. */
interface OpenEntry extends WaitingFile {
  readonly open: OpenFile;
}

/** Writes a plan into an empty folder; resolves to the number of images that cannot have their label. */
async function writeFiles(
  plan: ExtractPlan,
  folder: string,
  { signal, onProgress }: { signal: AbortSignal; onProgress: (event: ProgressEvent) => void },
): Promise<number> {
  let done = 0;
  let unlabeled = 0;
  let reported = 0;
  const report = () => onProgress({ step: "extracting", done, total: plan.bytes, unit: "bytes" });
  report();
  for (const path of plan.folders) await mkdir(join(folder, path));
  const batches = new SyncBatches<OpenEntry, null>({
    sync: ({ open }) => open.syncData().finally(() => open.close()),
    target: async () => null,
    name: async () => {},
  });
  await forEach(plan.files, signal, async (file) => {
    const open = await writeFile(file, join(folder, file.path), (bytes) => {
      done += bytes;
      if (done - reported < reportBytes) return;
      reported = done;
      report();
    });
    if (file.source !== undefined && !labelFile(open.path, file.source)) unlabeled++;
    // The folder is removed with what is in it.
    const synced = batches.add({ open, file: { remove: () => open.close() }, bytes: file.entry.size });
    synced.catch(() => {});
    await batches.room();
    return { synced };
  });
  if (reported < done) report();
  for (const path of ["", ...plan.folders]) await syncFolder(join(folder, path));
  return unlabeled;
}

/** Adds the label to a file that only this run sees; whether it has it. One is in memory at a time. */
function labelFile(path: string, source: DigitalSource): boolean {
  const chunks = [readFileSync(path)];
  const splices = labelSplices(imageInMemory(chunks), source);
  if (splices !== null && splices.length > 0)
    rewriteFile(path, Buffer.concat(splicedChunks(chunks, splices)));
  return splices !== null;
}

/** Writes an entry, never more than declared, and compares its CRC-32. It stays open. */
async function writeFile(
  { entry, archive }: PlannedFile,
  path: string,
  onBytes: (bytes: number) => void,
): Promise<OpenFile> {
  // A new file, and never one that a link leads to.
  const file = await newFile(path, 0o666);
  try {
    let crc = 0;
    for await (const piece of entry.read()) {
      crc = crc32(piece, crc);
      await file.write(piece);
      onBytes(piece.length);
    }
    if (crc !== entry.crc) {
      const why = `${shownEntry(entry.name)} has another checksum than declared`;
      throw new ArchiveError("damaged_zip", archive, why);
    }
    return file;
  } catch (error) {
    await file.close();
    throw asArchiveError(error, archive, `${shownEntry(entry.name)} has other bytes than declared`);
  }
}

/** Works on several files at once; after an error none is begun, and all are waited for. */
async function forEach(
  files: readonly PlannedFile[],
  signal: AbortSignal,
  work: (file: PlannedFile) => Promise<{ readonly synced: Promise<void> }>,
): Promise<void> {
  const limit = pLimit(writersAtOnce);
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const orStop = async (file: PlannedFile) => {
    try {
      const written = await limit(() => (either.aborted ? null : work(file)));
      await written?.synced;
    } catch (error) {
      stop.abort(error);
    }
  };
  await Promise.all(files.map(orStop));
  either.throwIfAborted();
}
