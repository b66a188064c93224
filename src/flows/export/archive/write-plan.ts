import { close, fdatasync, open } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { CatError } from "../../../errors.ts";
import { syncFolder } from "../../../move-file.ts";
import { OutputError } from "../../files/output-error.ts";
import type { ProgressEvent } from "../../progress-event.ts";
import { ArchiveError, shownEntry } from "./archive-error.ts";
import type { ExtractPlan, PlannedFile } from "./extract-plan.ts";
import { pieceBytes, WrongBytes, writeEntry } from "./write-entry.ts";

/** Files written at once: twice the threads of Node's pool. */
const writersAtOnce = 8;
/** Bytes between two reports of progress. */
const reportBytes = 4_000_000;

const openFile = promisify(open);
const closeFile = promisify(close);
const syncFile = promisify(fdatasync);

/**
 * Writes all files of a plan into an empty folder, and returns when they are on the disk. They are synced after the last one
 * is written: the disk has most of them by then, and each sync ends sooner. `dir` is the folder's name in messages.
 */
export async function writePlan(
  plan: ExtractPlan,
  {
    archives,
    folder,
    dir,
    signal,
    onProgress,
  }: {
    archives: readonly { path: string; shown: string }[];
    folder: string;
    dir: string;
    signal: AbortSignal;
    onProgress: (event: ProgressEvent) => void;
  },
): Promise<void> {
  let done = 0;
  let reported = 0;
  const report = () => onProgress({ step: "extracting", done, total: plan.bytes, unit: "bytes" });
  const onBytes = (bytes: number) => {
    done += bytes;
    if (done - reported < reportBytes) return;
    reported = done;
    report();
  };
  report();
  await orOutputError(dir, makeFolders(plan, folder));
  const buffers = Array.from({ length: writersAtOnce }, () => Buffer.allocUnsafeSlow(pieceBytes));
  for (const [index, { path, shown }] of archives.entries()) {
    const zip = await openFile(path, "r");
    try {
      const write = async ({ entry, path }: PlannedFile, writer: number) => {
        try {
          await writeEntry(zip, entry, { path: join(folder, path), buffer: buffers[writer]!, onBytes });
        } catch (error) {
          if (error instanceof WrongBytes)
            throw new ArchiveError("damaged_zip", shown, `${shownEntry(entry.name)} ${error.message}`, error);
          throw error;
        }
      };
      await orOutputError(dir, forEach(plan.files[index]!, write, signal));
    } finally {
      await closeFile(zip);
    }
  }
  if (reported < done) report();
  const sync = async ({ path }: PlannedFile) => {
    const file = await openFile(join(folder, path), "r+");
    await syncFile(file).finally(() => closeFile(file));
  };
  await orOutputError(dir, forEach(plan.files.flat(), sync, signal));
  for (const path of plan.folders) await syncFolder(join(folder, path));
}

async function makeFolders(plan: ExtractPlan, folder: string): Promise<void> {
  for (const path of plan.folders) await mkdir(join(folder, path));
}

/** Does the work for each item, several at once. After an error none is begun, and all are waited for. */
async function forEach<T>(
  items: readonly T[],
  work: (item: T, worker: number) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  let next = 0;
  const fail = (error: unknown): never => {
    next = items.length;
    throw error;
  };
  const worker = async (_: unknown, at: number): Promise<void> => {
    while (next < items.length) {
      signal.throwIfAborted();
      await work(items[next++]!, at).catch(fail);
    }
  };
  const results = await Promise.allSettled(Array.from({ length: writersAtOnce }, worker));
  for (const result of results) if (result.status === "rejected") throw result.reason;
}

/** An error of the file system is about the folder. Any other is passed on, such as the reason of an interrupt. */
async function orOutputError<T>(dir: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const isOfFiles = !(error instanceof CatError) && (error as NodeJS.ErrnoException).syscall !== undefined;
    throw isOfFiles ? new OutputError(dir, error as NodeJS.ErrnoException) : error;
  }
}
