import { createHash, hash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Client } from "../../client/client.ts";
import { parseJson } from "../../json.ts";
import { syncFolder } from "../../move-file.ts";
import {
  isOwnFile,
  newFile,
  type OpenFile,
  openKept,
  removeTemporary,
  temporaryFile,
} from "../../open-file.ts";
import { type SplicePart, spliced, splicedChunks } from "./ai-label.ts";
import { OutputError, readPlainFile, rejectWithoutSpace } from "./disk.ts";
import { moveToName, partName } from "./file-names.ts";

type DownloadTarget = Parameters<Client["downloadInto"]>[0];
type Version = Parameters<DownloadTarget["begin"]>[0];

/** Bytes buffered before they are written: the most that a kill loses. */
const defaultBatchBytes = 1024 * 1024;
/** A smaller file is not worth a part on the disk, if it may stay in memory. */
const mostInMemory = 4 * 1024 * 1024;

export interface PartOptions {
  path: string;
  /** The file as errors name it (default: its path). */
  name?: string | undefined;
  /** Whether a file that has the path is replaced (default: true). */
  replaces?: boolean | undefined;
  /** Whether a file of up to 4 MiB is gathered in memory, and not written. */
  inMemory?: boolean | undefined;
  /** Whether an earlier process may have left the part with this name (default: a look at the disk). */
  isLeft?: ((name: string) => boolean) | undefined;
  /** The current resource; a part of another one is not resumed. */
  resource: () => string;
  /** Bytes buffered before they are written (default: 1 MiB). */
  batchBytes?: number | undefined;
  onProgress?: ((progress: { bytes: number; total: number | null }) => void) | undefined;
}

/**
 * The bytes of a file so far, in a part next to it. A sidecar, written first, has their version: without it,
 * the file is of another program and stays. Another process resumes after the last byte on the disk. A part
 * is replaced, never truncated or reused for another version, as a process may still write to it; nor is a
 * link, or a part of another user.
 */
export class PartFile implements DownloadTarget {
  readonly #options: PartOptions;
  readonly #part: string;
  readonly #sidecar: string;
  kept: DownloadTarget["kept"] = null;
  /** The bytes that are not on the disk: all of a small file. */
  #batch: Uint8Array[] = [];
  #batched = 0;
  #isSmall = false;
  #handle: OpenFile | null = null;
  #written = 0;
  #version: Version = { etag: null, total: null };

  private constructor(options: PartOptions) {
    this.#options = options;
    this.#part = join(dirname(options.path), partName(basename(options.path)));
    this.#sidecar = `${this.#part}.state`;
  }

  /** Opens the part of an earlier process if it can be resumed. Throws OutputError. */
  static async open(options: PartOptions): Promise<PartFile> {
    const file = new PartFile(options);
    const { isLeft = () => existsSync(file.#part) } = options;
    if (!options.inMemory || isLeft(basename(file.#part))) await file.#orOutputError(file.#openKept());
    return file;
  }

  async begin(version: Version): Promise<void> {
    this.#batch = [];
    this.#batched = 0;
    this.#isSmall =
      this.#options.inMemory === true && version.total !== null && version.total <= mostInMemory;
    if (!this.#isSmall || this.#handle !== null) await this.#orOutputError(this.#beginNew(version));
  }

  async write(chunks: readonly Uint8Array[]): Promise<void> {
    for (const chunk of chunks) {
      this.#batch.push(chunk);
      this.#batched += chunk.length;
    }
    if (this.#isSmall) return;
    if (this.#batched >= (this.#options.batchBytes ?? defaultBatchBytes))
      await this.#orOutputError(this.#flush());
  }

  /** The path of all bytes taken, after they were written; null for a file in memory. */
  async flush(): Promise<string | null> {
    if (this.#isSmall) return null;
    await this.#orOutputError(this.#flush());
    return this.#part;
  }

  async head(length: number): Promise<Uint8Array> {
    const [first] = this.#batch;
    if (this.#isSmall)
      return first !== undefined && first.length >= length ? first : Buffer.concat(this.#batch);
    return this.#orOutputError(this.#head(length));
  }

  /** The bytes of a file in memory; null for one on the disk. */
  get chunks(): readonly Uint8Array[] | null {
    return this.#isSmall ? this.#batch : null;
  }

  /** Moves the file with its changes to its path, synced: null; in memory: its bytes. Throws OutputError. */
  async finish(length: number, splices: readonly SplicePart[] = []): Promise<readonly Uint8Array[] | null> {
    if (this.#isSmall) return splices.length === 0 ? this.#batch : splicedChunks(this.#batch, splices);
    await this.#orOutputError(this.#finish(length, splices));
    return null;
  }

  /** Closes the part and keeps it for another process if it can be resumed; otherwise removes it. */
  async keep(): Promise<void> {
    if (this.#handle === null) return;
    const handle = this.#handle;
    // A full disk keeps what was written before.
    await this.#flush().catch(() => {});
    const isUseless = this.#version.etag === null || this.#written === 0;
    const isRemoved = isUseless && (await this.#isOurs(handle));
    this.#handle = null;
    await handle.close().catch(() => {});
    if (isRemoved) await this.#remove().catch(() => {});
  }

  /** Removes the part: its bytes are wrong. */
  async forget(): Promise<void> {
    this.#batch = [];
    this.#batched = 0;
    this.kept = null;
    if (this.#handle === null) return;
    await this.#close();
    await this.#orOutputError(this.#remove());
  }

  async #openKept(): Promise<void> {
    const sidecar = await readPlainFile(this.#sidecar);
    if (sidecar === null) return this.#rejectForeign();
    const version = readSidecar(sidecar, this.#options.resource(), await currentBoot());
    if (version === null) return;
    // Not one of another user, who could write to it; a link is not opened.
    const handle = await openKept(this.#part, "r+").catch(() => null);
    if (handle === null) return;
    try {
      const stats = await handle.stat();
      const { total } = version;
      // A complete file drops its last byte: the response shows whether it is still the version.
      const bytes = stats.size === total ? total - 1 : stats.size;
      if (!stats.isFile() || bytes <= 0 || (total !== null && bytes > total)) return;
      // It is complete, and a kill came before it lost this name: its other one belongs to the user.
      if (stats.nlink > 1 || !isOwnFile(this.#part)) return;
      await this.#rejectWithoutSpace((total ?? 0) - stats.size);
      this.#handle = handle;
      this.#version = version;
      this.#written = bytes;
      this.kept = { bytes, ...version };
    } finally {
      if (this.#handle === null) await handle.close();
    }
  }

  /** Throws if a file that is not a part of a download has the part's name. */
  async #rejectForeign(): Promise<void> {
    if (!existsSync(this.#part) || existsSync(this.#sidecar)) return;
    const cause = Object.assign(new Error("not a part of a download"), { code: "EEXIST" });
    throw new OutputError(this.#name, cause, {
      what: `cannot be downloaded: another program uses the name of its part, ${this.#part}`,
      code: "part_exists",
      hint: "Move that file elsewhere, or choose another name for the download.",
    });
  }

  async #beginNew(version: Version): Promise<void> {
    await this.#close();
    await this.#rejectForeign();
    await this.#remove();
    if (this.#isSmall) return;
    await this.#rejectWithoutSpace(version.total ?? 0);
    // The sidecar comes first: it marks the part as one of this program.
    const sidecar = sidecarText(version, this.#options.resource(), await currentBoot());
    const record = await newFile(this.#sidecar);
    await record.write(sidecar).finally(() => record.close());
    const replaced = await stat(this.#options.path).catch(() => null);
    const mode = replaced?.isFile() ? replaced.mode & 0o777 : 0o666;
    this.#handle = await newFile(this.#part, mode);
    // Restores permissions removed by the umask, if a file is replaced.
    if (replaced !== null) await this.#handle.chmod(mode);
    this.#version = version;
    this.#written = 0;
  }

  async #flush(): Promise<void> {
    const batch = this.#batch;
    const bytes = this.#batched;
    if (bytes === 0) return;
    this.#batch = [];
    this.#batched = 0;
    const handle = this.#handle!;
    await handle.writeAll(batch, this.#written);
    this.#written += bytes;
    this.#options.onProgress?.({ bytes: this.#written, total: this.#version.total });
  }

  async #head(length: number): Promise<Uint8Array> {
    await this.#flush();
    return this.#handle!.read(Math.min(length, this.#written), 0);
  }

  async #finish(length: number, splices: readonly SplicePart[]): Promise<void> {
    await this.#flush();
    const handle = this.#handle!;
    const { size } = await handle.stat();
    if (this.#written !== length || size < length) {
      throw Object.assign(new Error(`it has ${size} bytes instead of ${length}`), { code: "ESHORT" });
    }
    // A part of another length can only be left from a file without a known length.
    if (size > length) await handle.cut(length);
    await handle.sync();
    if (!(await this.#isOurs(handle))) {
      const cause = Object.assign(new Error("another process is downloading it"), { code: "EBUSY" });
      throw new OutputError(this.#name, cause, {
        what: "is being downloaded by another process",
        code: "file_busy",
        hint: "Wait for it to finish, or stop it and run the command again.",
      });
    }
    // Until then the part keeps the bytes as sent, which its ETag is about.
    const complete = splices.length === 0 ? this.#part : await this.#changed(handle, splices);
    await this.#close();
    const { path, name, replaces = true } = this.#options;
    const taken = moveToName(complete, path, { replaces, name });
    if (complete !== this.#part) await rm(this.#part, { force: true });
    await syncFolder(dirname(path));
    await rm(this.#sidecar, { force: true });
    if (taken !== null) throw taken;
  }

  /** The path of another file with the bytes of the part and changes. */
  async #changed(handle: OpenFile, splices: readonly SplicePart[]): Promise<string> {
    const { mode } = await handle.stat();
    await removeTemporary(dirname(this.#part), this.#changedStart);
    const file = await temporaryFile(dirname(this.#part), this.#changedStart, mode);
    try {
      await file.chmod(mode);
      const read = (start: number, to = Number.POSITIVE_INFINITY) =>
        handle.readStream(start, to, defaultBatchBytes);
      for (const part of spliced(read, splices))
        for await (const bytes of part instanceof Uint8Array ? [part] : part) await file.write(bytes);
      await file.sync();
    } catch (error) {
      await rm(file.path, { force: true });
      throw error;
    } finally {
      await file.close();
    }
    return file.path;
  }

  async #rejectWithoutSpace(needed: number): Promise<void> {
    if (needed > 0)
      await rejectWithoutSpace(needed, { folder: dirname(this.#options.path), name: this.#name });
  }

  async #isOurs(handle: OpenFile): Promise<boolean> {
    const [own, there] = await Promise.all([handle.stat(), stat(this.#part).catch(() => null)]);
    return there !== null && own.ino === there.ino && own.dev === there.dev;
  }

  /** The part first, so that a power cut cannot leave the sidecar next to another part. */
  async #remove(): Promise<void> {
    const had = existsSync(this.#sidecar);
    await rm(this.#part, { force: true });
    if (had) await removeTemporary(dirname(this.#part), this.#changedStart);
    await rm(this.#sidecar, { force: true });
    if (had) await syncFolder(dirname(this.#part));
  }

  async #close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = null;
    await handle?.close();
  }

  /** The beginning of the names of `#changed`, short enough for every file system. */
  get #changedStart(): string {
    return `.${hash("sha256", basename(this.#part)).slice(0, 12)}-`;
  }

  get #name(): string {
    return this.#options.name ?? this.#options.path;
  }

  async #orOutputError<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      if (error instanceof OutputError) throw error;
      throw new OutputError(this.#name, error as NodeJS.ErrnoException);
    }
  }
}

/** The format of the sidecar; a later one gets another number. */
const form = 4;

/** Which file a part belongs to, and since which start of the machine it is written. */
const sidecarText = ({ etag, total }: Version, resource: string, boot: string): string =>
  JSON.stringify({ form, resource: hashResource(resource), etag, total, boot });

/** The version of a part; null if it is of another resource, from before a restart, or damaged. */
function readSidecar(text: string, resource: string, boot: string): Version | null {
  try {
    const { etag, total, ...about } = parseJson(text) as Version & Record<string, unknown>;
    const isOfFile = about.form === form && about.resource === hashResource(resource) && about.boot === boot;
    const isVersion = typeof etag === "string" && (total === null || Number.isSafeInteger(total));
    return isOfFile && isVersion ? { etag, total } : null;
  } catch {
    return null;
  }
}

/** The start of the machine, or empty: after a power cut, a file may have its length but not its bytes. */
const currentBoot = (): Promise<string> =>
  readFile("/proc/sys/kernel/random/boot_id", "latin1").then(
    (id) => id.trim(),
    () => "",
  );

/** The stored form of the resource, because a URL may contain a secret. */
const hashResource = (resource: string): string => createHash("sha256").update(resource).digest("hex");
