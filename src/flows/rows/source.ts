import { constants, createReadStream, open as openDescriptor } from "node:fs";
import { open, stat } from "node:fs/promises";
import { basename, extname, resolve } from "node:path";
import { CatError, fileFault } from "../../errors.ts";
import { privateCopy } from "./private-copy.ts";
import { SameBytes } from "./same-bytes.ts";
import { shownName } from "./shown-name.ts";

export type InputFormat = "csv" | "ndjson";

/** A file that is read again for each walk over its rows, because they are not kept. */
export interface Source {
  /** As the user typed it, for messages: `products.csv`, or `-` for standard input. */
  readonly name: string;
  readonly format: InputFormat;
  readonly bytes: number;
  /** The path, or null for standard input, a pipe or what a shell opened (`/dev/fd/3`), of which a private copy is kept while the job runs. */
  readonly path: string | null;
  /** Whether the bytes end where the rest was left unread, as a record is too long. */
  readonly isCut?: boolean;
  /** The path that files about it stand beside: also that of a pipe with a name of its own; null where there is none, or nobody finds it again. */
  readonly place: string | null;
  /** The bytes from the start, in chunks. Throws an InputError when they are not those of the first time that they were read to the end. */
  read(): AsyncIterable<Buffer>;
  /** A SHA-256 (hex) of the bytes; null until they were read to the end once. */
  readonly digest: string | null;
  /** Throws when the file was changed since it was opened: what is sent would not be what was checked. */
  refuseIfChanged(): Promise<void>;
  /** The error of a file that is not what it was when it was checked, or is missing, if `error` says so. */
  changed(error?: unknown): InputError;
  close(): Promise<void>;
}

/** A file that cannot be used, in words: exit 3, or 2 where it cannot be read at all (`cli/exit.ts`). */
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

/** What is done with a file, for messages about it. */
export interface FileJob {
  /** E.g. `import`. */
  noun: string;
  /** What to keep in mind when the file is edited while a run of it is open. */
  ifEdited?: string;
}

/** What openSource needs to know of the outside. */
export interface SourcePlace {
  /** What is done with the file, for messages. */
  job?: FileJob | undefined;
  cwd: string;
  stdin: NodeJS.ReadableStream;
  format?: InputFormat | undefined;
  signal?: AbortSignal | undefined;
  /** Whether the file is compared with itself at every reading; true unless given. Nothing is sent of one that is not. */
  isCompared?: boolean | undefined;
  /** Of what can be read only once: whether its first part is such that it will be refused, so that the rest is not read. */
  isHopeless?: ((start: Source) => Promise<boolean>) | undefined;
}

/** The format that a file's name tells, if it does. */
export const formatOfName = (name: string): InputFormat | undefined =>
  formatOfExtension[extname(name).toLowerCase()];

/** Whether a path is but a number of what this process was given open: nothing can stand beside it, and nobody finds it again. */
const isDescriptor = (path: string): boolean =>
  /^\/(?:dev\/(?:stdin|fd\/\d+)|proc\/(?:self|thread-self|\d+)\/fd\/\d+)$/.test(path);

/** Opens FILE, or a private copy of what can be read only once (`-`, a pipe, `/dev/stdin`), and tells its format. Throws InputError. */
export async function openSource(name: string, from: SourcePlace): Promise<Source> {
  if (name === "-") return copyOf(name, from.stdin, null, from);
  const path = resolve(from.cwd, name);
  const { kind } = await fingerprint(name, path);
  if (kind === "file" && !isDescriptor(path)) return fileSource(name, path, from);
  if (kind !== "pipe") return copyOf(name, createReadStream(path), null, from);
  return copyOf(name, await readPipe(name, path), isDescriptor(path) ? null : path, from);
}

/** A pipe with a name, opened without waiting for its writer: such a wait in the system could not be interrupted. */
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
  // What cannot be read any more is another file as well.
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
    async refuseIfChanged() {
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
        "Choose a CSV or NDJSON file in it.",
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
  let file: Awaited<ReturnType<typeof open>> | undefined;
  try {
    file = await open(path);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(1024), 0, 1024, 0);
    return /^\uFEFF?\s*[{[]/.test(buffer.toString("utf8", 0, bytesRead)) ? "ndjson" : "csv";
  } catch (error) {
    throw unreadable(name, error);
  } finally {
    await file?.close();
  }
}

/** Tells whether a file has other bytes by now than those that were read of it, whatever its date says. */
export async function changeOf(source: Source): Promise<InputError | null> {
  try {
    await source.refuseIfChanged();
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

/** What the file system refused, as a sentence; errors of other kinds pass through. */
function unreadable(name: string, error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException).code;
  if (error instanceof CatError || code === undefined) return error;
  // Node reads each byte of an argument that is not UTF-8 as this character, and then looks for another name.
  if (code === "ENOENT" && name.includes("\ufffd")) {
    return new InputError(
      `cannot open ${name}: its name seems to have bytes that are not UTF-8, which Node cannot pass on`,
      "file_not_found",
      "Rename the file, or use - instead of its name and pipe it in with < FILE.",
    );
  }
  if (code === "ENOENT" || code === "ENOTDIR") {
    return new InputError(
      `${name} does not exist`,
      "file_not_found",
      "Check the name and the folder you are in.",
    );
  }
  const fault = fileFault(error);
  return new InputError(`cannot read ${name}: ${fault?.why ?? code}`, "file_not_readable", fault?.hint);
}
