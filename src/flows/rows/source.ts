import { constants, createReadStream, open as openDescriptor } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, extname, resolve } from "node:path";
import { CatError, fileProblem } from "../../errors.ts";
import { fileStart } from "../files/disk.ts";
import { privateCopy } from "./private-copy.ts";
import { SameBytes } from "./same-bytes.ts";
import { shownName } from "./shown-name.ts";

export type InputFormat = "csv" | "ndjson";

/** A file that is read again for each walk over its rows, which are not kept. */
export interface Source {
  /** As the user typed it, for messages: `products.csv`, or `-` for standard input. */
  readonly name: string;
  readonly format: InputFormat;
  readonly bytes: number;
  /**
   * The path; null for standard input, a pipe or a descriptor (`/dev/fd/3`), of which a private copy is kept
   * meanwhile.
   */
  readonly path: string | null;
  /** Whether reading stopped early because a record is too long. */
  readonly isCut?: boolean;
  /**
   * The path next to which output files are written, including that of a named pipe; null if it has no
   * lasting path.
   */
  readonly place: string | null;
  /**
   * The bytes from the start, in chunks. Throws an InputError if they differ from the first complete reading.
   */
  read(): AsyncIterable<Buffer>;
  /** A SHA-256 (hex) of the bytes; null until they have been read to the end once. */
  readonly digest: string | null;
  /** Throws if the file changed since it was opened: otherwise unchecked rows would be sent. */
  rejectIfChanged(): Promise<void>;
  /** The error for a file that changed or disappeared after the check, depending on `error`. */
  changed(error?: unknown): InputError;
  close(): Promise<void>;
}

/** A file that cannot be used: exit 3, or 2 if it cannot be read (`cli/context/exit.ts`). */
export class InputError extends CatError {
  override readonly name = "InputError";
  constructor(message: string, code: string, hint?: string) {
    super(message, { type: "input", code, hint });
  }
}

const formatOfExtension: Readonly<Record<string, InputFormat>> = {
  ".csv": "csv",
  ".tsv": "csv",
  ".txt": "csv",
  ".ndjson": "ndjson",
  ".jsonl": "ndjson",
};

/** The use of a file, for messages about it. */
export interface FileJob {
  /** E.g. `import`. */
  noun: string;
  /** A warning for users who edit the file before a run of it is complete. */
  ifEdited?: string;
}

/** The environment that openSource reads from. */
export interface SourcePlace {
  /** The use of the file, for messages. */
  job?: FileJob | undefined;
  cwd: string;
  stdin: NodeJS.ReadableStream;
  format?: InputFormat | undefined;
  signal?: AbortSignal | undefined;
  /**
   * Whether the file is compared with itself at every reading (default: true). Rows are sent only from a
   * compared file.
   */
  isCompared?: boolean | undefined;
  /**
   * For an input that can be read only once: whether its first part is certain to be rejected, so the rest is
   * not read.
   */
  isHopeless?: ((start: Source) => Promise<boolean>) | undefined;
}

/** The format that the extension of a file name indicates, if any. */
export const formatOfName = (name: string): InputFormat | undefined =>
  formatOfExtension[extname(name).toLowerCase()];

/**
 * Whether a path is only a descriptor of this process: no file can be written next to it, or found again
 * later.
 */
const isDescriptor = (path: string): boolean =>
  /^\/(?:dev\/(?:stdin|fd\/\d+)|proc\/(?:self|thread-self|\d+)\/fd\/\d+)$/.test(path);

/**
 * Opens FILE, or a private copy of an input that can be read only once (`-`, a pipe, `/dev/stdin`), and
 * detects its format. Throws InputError.
 */
export async function openSource(name: string, from: SourcePlace): Promise<Source> {
  if (name === "-") return copyOf(name, from.stdin, null, from);
  const path = resolve(from.cwd, name);
  const { kind } = await fingerprint(name, path);
  if (kind === "file" && !isDescriptor(path)) return fileSource(name, path, from);
  if (kind !== "pipe") return copyOf(name, createReadStream(path), null, from);
  return copyOf(name, await readPipe(name, path), isDescriptor(path) ? null : path, from);
}

/** Opens a named pipe without waiting for its writer: the system could not be interrupted while waiting. */
async function readPipe(name: string, path: string): Promise<NodeJS.ReadableStream> {
  const { Socket } = await import("node:net");
  const { promisify } = await import("node:util");
  try {
    const descriptor = await promisify(openDescriptor)(path, constants.O_RDONLY | constants.O_NONBLOCK);
    return new Socket({ fd: descriptor, readable: true, writable: false });
  } catch (error) {
    throw unreadable(name, error);
  }
}

async function copyOf(
  given: string,
  stream: NodeJS.ReadableStream,
  place: string | null,
  from: SourcePlace,
): Promise<Source> {
  const name = shownName(given);
  const copied = (path: string) => fileSource(given, path, from);
  try {
    const { path, isCut, close } = await privateCopy(name, stream, {
      signal: from.signal,
      isHopeless: async (path) => (await from.isHopeless?.(await copied(path))) ?? false,
    });
    const source = await copied(path);
    return Object.defineProperties(source, {
      path: { value: null },
      place: { value: place },
      isCut: { value: isCut },
      close: { value: close },
    });
  } catch (error) {
    throw unreadable(name, error);
  }
}

async function fileSource(
  name: string,
  path: string,
  { job, format, isCompared = true }: SourcePlace,
): Promise<Source> {
  const opened = await fingerprint(name, path);
  const changed = (error?: unknown) => changedFile(name, job, error);
  // A file that cannot be read any more counts as changed.
  const unlikeBefore = (error: unknown): never => {
    throw error instanceof InputError ? changed(error) : error;
  };
  const bytes = new SameBytes(path, { isCompared, changed });
  return {
    name,
    format: format ?? formatOfName(name) ?? (await sniffFormat(name, path)),
    bytes: opened.size,
    path,
    place: path,
    read: () => readable(name, bytes.read()),
    get digest() {
      return bytes.digest;
    },
    async rejectIfChanged() {
      const now = await fingerprint(name, path).catch(unlikeBefore);
      if (now.size === opened.size && now.changed === opened.changed && now.file === opened.file) return;
      throw changed();
    },
    changed,
    close: async () => {},
  };
}

async function fingerprint(name: string, path: string) {
  try {
    const found = await stat(path, { bigint: true });
    if (found.isDirectory()) {
      throw new InputError(
        `${name} is a folder, not a file`,
        "is_a_directory",
        "Choose a CSV or NDJSON file in that folder.",
      );
    }
    const kind = found.isFile() ? "file" : found.isFIFO() ? "pipe" : "device";
    return { size: Number(found.size), changed: found.mtimeNs, file: found.ino, kind };
  } catch (error) {
    throw unreadable(name, error);
  }
}

async function* readable(name: string, bytes: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  try {
    yield* bytes;
  } catch (error) {
    throw unreadable(name, error);
  }
}

async function sniffFormat(name: string, path: string): Promise<InputFormat> {
  try {
    return /^\uFEFF?\s*[{[]/.test(String(await fileStart(path, 1024))) ? "ndjson" : "csv";
  } catch (error) {
    throw unreadable(name, error);
  }
}

/** Determines whether the bytes of a file changed since they were read, whatever its date. */
export async function changeOf(source: Source): Promise<InputError | null> {
  try {
    await source.rejectIfChanged();
  } catch {
    try {
      for await (const _ of source.read());
    } catch (error) {
      return source.changed(error);
    }
  }
  return null;
}

function changedFile(
  name: string,
  { noun, ifEdited }: FileJob = { noun: "run" },
  error?: unknown,
): InputError {
  if (error instanceof InputError && error.code === "file_changed") return error;
  const isGone = error instanceof InputError && error.code === "file_not_found";
  const what = isGone ? "was removed" : "changed";
  const resume = "To resume, restore the file and run the command again.";
  return new InputError(
    `${basename(name)} ${what} during the ${noun}; the remaining rows were not sent`,
    "file_changed",
    isGone || ifEdited === undefined ? resume : `${resume} ${ifEdited}`,
  );
}

/** Turns errors of the file system into messages for users; others pass through unchanged. */
function unreadable(name: string, error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException).code;
  if (error instanceof CatError || code === undefined) return error;
  // Node turns each byte that is not UTF-8 in an argument into this character, and then opens a different
  // name.
  if (code === "ENOENT" && name.includes("\ufffd")) {
    return new InputError(
      `cannot open ${name}: its name seems to contain bytes that are not UTF-8`,
      "file_not_found",
      "Rename the file, or use - instead of its name and add < FILE.",
    );
  }
  if (code === "ENOENT" || code === "ENOTDIR") {
    return new InputError(
      `${name} does not exist`,
      "file_not_found",
      "Check the name and the current folder.",
    );
  }
  const fault = fileProblem(error);
  return new InputError(`cannot read ${name}: ${fault?.why ?? code}`, "file_not_readable", fault?.hint);
}
