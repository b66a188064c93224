import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { CatError, fileProblem, outOfFiles } from "../../errors.ts";
import { fileStart } from "../files/disk.ts";
import { shownName } from "../words.ts";
import { isGzip } from "./encoding.ts";
import { detectFormat, type InputFormat } from "./input-format.ts";
import { SameBytes } from "./same-bytes.ts";
import type { CopiedSheet, SheetReading } from "./workbook-copy.ts";

/** A file that is read again for each walk over its rows, which are not kept. */
export interface Source {
  /** As the user typed it, for messages: `products.csv`, or `-` for standard input. */
  readonly name: string;
  readonly format: InputFormat;
  readonly sheet?: CopiedSheet;
  /** The path, maybe of a folder of photos; null for stdin, a pipe or `/dev/fd/3`, kept as a private copy. */
  readonly path: string | null;
  /** The path next to which output files are written, also of a named pipe; null without a lasting one. */
  readonly place: string | null;
  /** Chunks of 64 KiB, the last shorter. Throws an InputError if they differ from the first whole reading. */
  read(): AsyncIterable<Buffer>;
  /** A SHA-256 (hex) of the bytes; null until they have been read and compared to the end once. */
  readonly digest: string | null;
  /** The digest, for which the bytes are read to the end unless they were before. */
  readDigest(): Promise<string>;
  /** Throws if the file changed since it was opened: otherwise unchecked rows would be sent. */
  rejectIfChanged(): Promise<void>;
  /** The error for a file that changed or disappeared after the check, depending on `error`. */
  changed(error?: unknown): InputError;
  close(): Promise<void>;
}

/** A file that cannot be used: exit 3, or 2 if it cannot be read (`cli/context/errors.ts`). */
export class InputError extends CatError {
  override readonly name = "InputError";
  constructor(message: string, code: string, hint?: string) {
    super(message, { type: "input", code, hint });
  }
}

export interface FileJob {
  /** E.g. `import`. */
  noun: string;
  /** A warning for users who edit the file before a run of it is complete. */
  ifEdited?: string;
}

export interface SourcePlace {
  job?: FileJob | undefined;
  cwd: string;
  /** Standard input, which takes time to open, and is only for `-`. */
  stdin: () => NodeJS.ReadableStream;
  format?: InputFormat | undefined;
  signal?: AbortSignal | undefined;
  /** Whether each reading is compared (default: true): rows are sent only from a compared file. */
  isCompared?: boolean | undefined;
  /** How to find the sheet of a workbook; by default the only one that is visible. */
  sheets?: Omit<SheetReading, "signal"> | undefined;
  /** Called at the end if a workbook was saved after its rows were read. */
  onSaved?: (() => Promise<void>) | undefined;
}

/** Opens FILE, or copies one-time input (`-`, pipe, `/dev/stdin`) and finds its format. Throws InputError. */
export async function openSource(name: string, from: SourcePlace): Promise<Source> {
  if (name === "-") return copiedSource(name, from.stdin(), standardInput, from);
  const path = resolve(from.cwd, name);
  const { kind } = await fingerprint(name, path);
  if (kind === "file" && !isDescriptor(path)) return fileSource(name, path, from);
  if (kind !== "pipe") return copiedSource(name, createReadStream(path), standardInput, from);
  const { openPipe } = await import("./private-copy.ts");
  const pipe = await openPipe(path).catch(rejectUnreadable(name));
  return copiedSource(name, pipe, { path: null, place: isDescriptor(path) ? null : path }, from);
}

const standardInput = { path: null, place: null };

/** Whether a path is only a descriptor of this process: no file can be next to it, or found again later. */
const isDescriptor = (path: string): boolean =>
  /^\/(?:dev\/(?:stdin|fd\/\d+)|proc\/(?:self|thread-self|\d+)\/fd\/\d+)$/.test(path);

/** Rows that can be read only once, as a private copy. Throws InputError. */
export async function copiedSource(
  name: string,
  stream: NodeJS.ReadableStream,
  lasting: Pick<Source, "path" | "place">,
  from: SourcePlace,
): Promise<Source> {
  try {
    const { privateCopy } = await import("./private-copy.ts");
    const { path, close } = await privateCopy(shownName(name), stream, from.signal);
    return await sourceOfCopy(name, path, from, { ...lasting, close });
  } catch (error) {
    throw unreadable(shownName(name), error);
  }
}

/** The fields of a source that stay when its file is copied. */
type Lasting = Pick<Source, "path" | "place" | "close">;

async function fileSource(
  name: string,
  file: string,
  from: SourcePlace,
  lasting: Lasting = { path: file, place: file, close: async () => {} },
): Promise<Source> {
  const opened = await fingerprint(name, file);
  const start = await fileStart(file, 1024).catch(rejectUnreadable(name));
  if (isGzip(start)) return expandedSource(name, file, opened, from, lasting);
  const format = detectFormat(name, start, from.format);
  if (typeof format === "object")
    throw new InputError(`${shownName(name)} is ${format.what}`, format.code, format.hint);
  return format === "workbook"
    ? workbookSource(name, file, opened, from, lasting)
    : // Spreading would read the digest before there is one.
      Object.assign(readable(name, file, opened, from), lasting, { name, format });
}

/** A gzip file is expanded once: a run reads the same rows if the file changes meanwhile. */
async function expandedSource(
  name: string,
  file: string,
  opened: Fingerprint,
  from: SourcePlace,
  { path, place, close }: Lasting,
): Promise<Source> {
  const { expandedCopy } = await import("./private-copy.ts");
  const copy = await expandedCopy(shownName(name), file, from.signal).catch(rejectUnreadable(name));
  const closeBoth = async () => {
    await copy.close();
    await noteIfSaved(name, file, opened, from);
    await close();
  };
  return sourceOfCopy(name, copy.path, from, { path, place, close: closeBoth });
}

/** Removes the copy if it cannot be used. */
const sourceOfCopy: typeof fileSource = async (name, file, from, lasting) => {
  try {
    return await fileSource(name, file, from, lasting);
  } catch (error) {
    await lasting?.close();
    throw error;
  }
};

async function noteIfSaved(
  name: string,
  file: string,
  opened: Fingerprint,
  { onSaved }: SourcePlace,
): Promise<void> {
  const now = await fingerprint(name, file).catch(() => opened);
  if (now.changed !== opened.changed || now.file !== opened.file) await onSaved?.();
}

/** The reading of a file that must stay as it is. */
function readable(name: string, file: string, opened: Fingerprint, { job, isCompared = true }: SourcePlace) {
  const changed = (error?: unknown) => changedFile(name, job, error);
  const bytes = new SameBytes(file, { isCompared, changed });
  return {
    async *read() {
      try {
        yield* bytes.read();
      } catch (error) {
        throw unreadable(name, error);
      }
    },
    get digest() {
      return bytes.digest;
    },
    async readDigest() {
      try {
        return await bytes.readDigest();
      } catch (error) {
        throw unreadable(name, error);
      }
    },
    async rejectIfChanged() {
      const now = await fingerprint(name, file).catch((error) => {
        // A file that cannot be read any more counts as changed.
        throw error instanceof InputError ? changed(error) : error;
      });
      if (now.size !== opened.size || now.changed !== opened.changed || now.file !== opened.file)
        throw changed();
    },
    changed,
  };
}

/** Where no columns are looked for, the first row with cells is the header. */
const anyForm = { isColumn: () => true, columns: () => ({ names: [] }) };

/** A sheet is copied once: a run reads the same rows if the workbook changes meanwhile. */
async function workbookSource(
  name: string,
  file: string,
  opened: Fingerprint,
  from: SourcePlace,
  { path, place, close }: Lasting,
): Promise<Source> {
  const { copySheet } = await import("./workbook-copy.ts");
  const { createHash } = await import("node:crypto");
  const choice = from.sheets ?? { forms: [anyForm] as const, ask: null };
  const sheet = await copySheet(file, shownName(name), { ...choice, signal: from.signal });
  const rows = readable(name, sheet.path, await fingerprint(name, sheet.path), from);
  // Links and merged ranges stand beside the rows.
  const beside = JSON.stringify([sheet.sheet, [...sheet.extras.links], sheet.extras.merged]);
  const digestWith = (ofRows: string) => createHash("sha256").update(ofRows).update(beside).digest("hex");
  return {
    name,
    path,
    place,
    sheet,
    format: "workbook",
    read: rows.read,
    rejectIfChanged: rows.rejectIfChanged,
    changed: rows.changed,
    get digest() {
      return rows.digest && digestWith(rows.digest);
    },
    readDigest: async () => digestWith(await rows.readDigest()),
    async close() {
      await sheet.close();
      await noteIfSaved(name, file, opened, from);
      await close();
    },
  };
}

type Fingerprint = Awaited<ReturnType<typeof fingerprint>>;

async function fingerprint(name: string, path: string) {
  try {
    const stats = await stat(path, { bigint: true });
    if (stats.isDirectory()) {
      throw new InputError(
        `${name} is a folder, not a file`,
        "is_a_directory",
        "Choose a CSV or NDJSON file in that folder.",
      );
    }
    const kind = stats.isFile() ? "file" : stats.isFIFO() ? "pipe" : "device";
    return { size: stats.size, changed: stats.mtimeNs, file: stats.ino, kind };
  } catch (error) {
    throw unreadable(name, error);
  }
}

/** Determines whether the bytes of a file changed since they were read, whatever its date. */
export async function changeError(source: Source): Promise<InputError | null> {
  try {
    await source.rejectIfChanged();
  } catch {
    try {
      for await (const _ of source.read());
    } catch (error) {
      return outOfFiles(error, source.name) === null ? source.changed(error) : null;
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
  const few = outOfFiles(error, name);
  if (few !== null) return few;
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

const rejectUnreadable =
  (name: string) =>
  (error: unknown): never => {
    throw unreadable(name, error);
  };
