import { createHash } from "node:crypto";
import { type FileHandle, open, readFile, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Client } from "../../client/client.ts";
import { syncFolder } from "../../move-file.ts";
import { type freeBytesIn, rejectWithoutSpace } from "./disk.ts";
import { moveToName, partName } from "./file-names.ts";
import { OutputError } from "./output-error.ts";

type DownloadTarget = Parameters<Client["downloadInto"]>[0];
type Version = Parameters<DownloadTarget["begin"]>[0];

/** Bytes, or chunks, buffered before they are written: the most that a kill loses. */
const defaultBatchBytes = 1024 * 1024;
const batchChunks = 512;

export interface PartOptions {
  /** The path of the complete file. */
  path: string;
  /** The file as errors name it (default: its path). */
  name?: string | undefined;
  /** Whether a file that has the path is replaced (default: true). */
  replaces?: boolean | undefined;
  /** The name of the part in the folder of the file (default: derived from the file's name). */
  part?: string | undefined;
  /** The free space of a folder in bytes (default: as the system reports it). */
  freeBytes?: typeof freeBytesIn | undefined;
  /** The current resource; a part of another one is not resumed. */
  resource: () => string;
  /** The permissions of a new file, less the umask; a replaced file keeps its own. */
  mode?: number | undefined;
  /** Bytes buffered before they are written (default: 1 MiB). */
  batchBytes?: number | undefined;
  onProgress?: ((progress: { bytes: number; total: number | null }) => void) | undefined;
}

/**
 * The bytes of a file so far, next to the file. A sidecar, written before them, records which version they belong to.
 * Another process resumes after the last byte on the disk: a kill loses none of those.
 *
 * A file without a sidecar belongs to another program and is left unchanged. A part is never truncated or
 * reused for another version: a new file of the same name replaces it, so that a process still writing to the
 * old one does no harm.
 */
export class PartFile implements DownloadTarget {
  readonly #options: PartOptions;
  readonly #part: string;
  readonly #sidecar: string;
  readonly #batchBytes: number;
  kept: DownloadTarget["kept"] = null;
  #handle: FileHandle | null = null;
  #mode = 0o666;
  #version: Version = { validator: null, total: null };
  #boot = "";
  #written = 0;
  #batch: Uint8Array[] = [];
  #batched = 0;
  /** The current write. */
  #writing: Promise<void> = Promise.resolve();

  private constructor(options: PartOptions) {
    this.#options = options;
    const name = options.part ?? partName(basename(options.path));
    this.#part = join(dirname(options.path), name);
    this.#sidecar = `${this.#part}.state`;
    this.#batchBytes = options.batchBytes ?? defaultBatchBytes;
  }

  /** Opens the part of an earlier process if it can be resumed. Throws OutputError. */
  static async open(options: PartOptions): Promise<PartFile> {
    const file = new PartFile(options);
    await file.#orOutputError(file.#openKept());
    return file;
  }

  async begin(version: Version): Promise<void> {
    await this.#orOutputError(this.#beginNew(version));
  }

  write(chunk: Uint8Array): Promise<void> | undefined {
    this.#batch.push(chunk);
    this.#batched += chunk.length;
    if (this.#batched < this.#batchBytes && this.#batch.length < batchChunks) return undefined;
    return this.#orOutputError(this.#startWrite());
  }

  /** Writes all bytes taken, so that they can be read at `partPath`. */
  async flush(): Promise<string> {
    await this.#orOutputError(this.#flush());
    return this.#part;
  }

  /** The first bytes on disk. */
  async head(length: number): Promise<Uint8Array> {
    return this.#orOutputError(this.#head(length));
  }

  /** Moves the complete file to its path and syncs it to disk. Throws OutputError. */
  async finish(length: number): Promise<void> {
    await this.#orOutputError(this.#finish(length));
  }

  /** Closes the part and keeps it for another process if it can be resumed; otherwise removes it. */
  async keep(): Promise<void> {
    if (this.#handle === null) return;
    const handle = this.#handle;
    // A full disk keeps what was written before.
    await this.#flush().catch(() => {});
    const isUseless = this.#version.validator === null || this.#written === 0;
    const isRemoved = isUseless && (await this.#isOurs(handle));
    this.#handle = null;
    await handle.close().catch(() => {});
    if (isRemoved) await this.#remove().catch(() => {});
  }

  /** Removes the part: its bytes are wrong. */
  async forget(): Promise<void> {
    await this.#settle();
    await this.#close();
    await this.#orOutputError(this.#remove());
    this.kept = null;
  }

  async #openKept(): Promise<void> {
    const target = await stat(this.#options.path).catch(() => null);
    this.#mode = target?.isFile() ? target.mode & 0o777 : (this.#options.mode ?? 0o666);
    this.#boot = await currentBoot();
    const sidecar = await readFile(this.#sidecar, "utf8").catch(() => null);
    if (sidecar === null) return this.#rejectForeign();
    const version = readSidecar(sidecar, this.#options.resource(), this.#boot);
    if (version === null) return;
    const handle = await open(this.#part, "r+").catch(() => null);
    if (handle === null) return;
    const found = await handle.stat();
    const { total } = version;
    // A complete file drops its last byte: the response shows whether it is still the version.
    const bytes = found.size === total ? total - 1 : found.size;
    if (!found.isFile() || bytes <= 0 || (total !== null && bytes > total)) {
      await handle.close();
      return;
    }
    try {
      await this.#rejectWithoutSpace((total ?? 0) - found.size);
    } catch (error) {
      await handle.close();
      throw error;
    }
    this.#handle = handle;
    this.#version = version;
    this.#written = bytes;
    this.kept = { bytes, ...version };
  }

  /** Throws if a file that is not a part of a download has the part's name. */
  async #rejectForeign(): Promise<void> {
    if (!(await isThere(this.#part)) || (await isThere(this.#sidecar))) return;
    const cause = Object.assign(new Error("not a part of a download"), { code: "EEXIST" });
    throw new OutputError(this.#name, cause, {
      what: `cannot be downloaded: another program uses the name of its part, ${this.#part}`,
      code: "part_exists",
      hint: "Move that file elsewhere, or choose another name for the download.",
    });
  }

  async #beginNew(version: Version): Promise<void> {
    await this.#settle();
    await this.#close();
    await this.#rejectForeign();
    await this.#remove();
    await this.#rejectWithoutSpace(version.total ?? 0);
    // The sidecar comes first: it marks the part as one of this program.
    await writeFile(this.#sidecar, sidecarText(version, this.#options.resource(), this.#boot), {
      flag: "wx",
      mode: 0o600,
    });
    this.#handle = await open(this.#part, "wx+", this.#mode);
    // Restores permissions removed by the umask, if a file is replaced and the file system supports modes.
    if (await isThere(this.#options.path)) await this.#handle.chmod(this.#mode).catch(() => {});
    this.#version = version;
    this.#written = 0;
  }

  /** Waits for the previous write, then starts this one; the next chunks arrive while it runs. */
  async #startWrite(): Promise<void> {
    const batch = this.#batch;
    const bytes = this.#batched;
    this.#batch = [];
    this.#batched = 0;
    await this.#writing;
    const handle = this.#handle!;
    const position = this.#written;
    this.#writing = this.#writeBatch(handle, batch, bytes, position);
    // The next caller that waits for this write gets its error.
    this.#writing.catch(() => {});
  }

  async #writeBatch(handle: FileHandle, batch: Uint8Array[], bytes: number, position: number): Promise<void> {
    let { bytesWritten } = await handle.writev(batch, position);
    while (bytesWritten < bytes) {
      const rest = Buffer.concat(batch).subarray(bytesWritten);
      bytesWritten += (await handle.write(rest, 0, rest.length, position + bytesWritten)).bytesWritten;
    }
    this.#written = position + bytes;
    this.#options.onProgress?.({ bytes: this.#written, total: this.#version.total });
  }

  async #flush(): Promise<void> {
    if (this.#batched > 0) await this.#startWrite();
    await this.#writing;
  }

  async #head(length: number): Promise<Uint8Array> {
    await this.#flush();
    const buffer = Buffer.alloc(Math.min(length, this.#written));
    const { bytesRead } = await this.#handle!.read(buffer, 0, buffer.length, 0);
    return buffer.subarray(0, bytesRead);
  }

  async #finish(length: number): Promise<void> {
    await this.#flush();
    const handle = this.#handle!;
    const { size } = await handle.stat();
    if (this.#written !== length || size < length) {
      throw Object.assign(new Error(`it has ${size} bytes instead of ${length}`), { code: "ESHORT" });
    }
    // A part of another length can only be left from a file without a known length.
    if (size > length) await handle.truncate(length);
    await handle.sync();
    if (!(await this.#isOurs(handle))) {
      const cause = Object.assign(new Error("another process is downloading it"), { code: "EBUSY" });
      throw new OutputError(this.#name, cause, {
        what: "is being downloaded by another process",
        code: "file_busy",
        hint: "Wait for it to finish, or stop it and run the command again.",
      });
    }
    await this.#close();
    const { path, name, replaces = true } = this.#options;
    const taken = moveToName(this.#part, path, { replaces, name });
    await syncFolder(dirname(path));
    await rm(this.#sidecar, { force: true });
    if (taken !== null) throw taken;
  }

  async #rejectWithoutSpace(needed: number): Promise<void> {
    if (needed <= 0) return;
    const { path, name = path, freeBytes } = this.#options;
    await rejectWithoutSpace(needed, { folder: dirname(path), name, ...(freeBytes && { freeBytes }) });
  }

  async #isOurs(handle: FileHandle): Promise<boolean> {
    const [own, there] = await Promise.all([handle.stat(), stat(this.#part).catch(() => null)]);
    return there !== null && own.ino === there.ino && own.dev === there.dev;
  }

  /** Removes the part, then the sidecar, so that a power cut cannot leave the sidecar next to another part. */
  async #remove(): Promise<void> {
    const had = await isThere(this.#sidecar);
    await rm(this.#part, { force: true });
    await rm(this.#sidecar, { force: true });
    if (had) await syncFolder(dirname(this.#part));
  }

  /** Drops unwritten bytes, and waits for running writes. */
  async #settle(): Promise<void> {
    this.#batch = [];
    this.#batched = 0;
    await this.#writing.catch(() => {});
    this.#writing = Promise.resolve();
  }

  async #close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = null;
    await handle?.close();
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

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** A version whose bytes another process can resume. */
type Resumable = Version & { readonly validator: NonNullable<Version["validator"]> };

/** The format of the sidecar; a later one gets another number. */
const form = 3;

/** What a sidecar records: which file the part belongs to, and since which start of the machine it is written. */
export const sidecarText = ({ validator, total }: Version, resource: string, boot: string): string =>
  JSON.stringify({ form, resource: digestOf(resource), validator, total, boot });

/** The version of a part; null if it cannot be resumed: of another resource, from before a restart, or damaged. */
export function readSidecar(text: string, resource: string, boot: string): Resumable | null {
  let read: { form?: unknown; resource?: unknown; boot?: unknown } & Partial<Version>;
  try {
    read = JSON.parse(text) ?? {};
  } catch {
    return null;
  }
  const { validator, total = null } = read;
  if (read.form !== form || read.resource !== digestOf(resource) || read.boot !== boot) return null;
  if (!(total === null || Number.isSafeInteger(total))) return null;
  if (typeof validator?.value !== "string") return null;
  const isKnown = validator.header === "etag" || validator.header === "last-modified";
  return isKnown ? { validator, total } : null;
}

/**
 * The start of the machine: after a power cut, a file may have its length but not its bytes. Empty on systems that do not
 * name it.
 */
export const currentBoot = (): Promise<string> =>
  readFile("/proc/sys/kernel/random/boot_id", "latin1").then(
    (id) => id.trim(),
    () => "",
  );

/** The stored form of the resource, because a URL may contain a secret. */
const digestOf = (resource: string): string => createHash("sha256").update(resource).digest("hex");
