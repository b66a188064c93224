import { constants, createReadStream, open as openDescriptor } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { addAbortSignal, pipeline, Readable } from "node:stream";
import { CatError } from "../../errors.ts";
import { newFile, type OpenFile } from "../../open-file.ts";
import { fileStart, temporaryFolder, temporaryProblem } from "../files/disk.ts";
import { isGzip } from "./encoding.ts";

/** Opens a named pipe without waiting for its writer: the system could not be interrupted while waiting. */
export async function openPipe(path: string): Promise<NodeJS.ReadableStream> {
  const { Socket } = await import("node:net");
  const { promisify } = await import("node:util");
  const descriptor = await promisify(openDescriptor)(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return new Socket({ fd: descriptor, readable: true, writable: false });
}

/** More bytes than any valid record has in any encoding (`maxRecordLength`). */
const longestLine = 8 * 1024 * 1024;

/**
 * Copies an input that can be read once to a private folder. Throws a CatError if it cannot, or for a line
 * that no file of rows has, as a device may be endless; passes on errors of the stream.
 */
export async function privateCopy(
  name: string,
  stream: NodeJS.ReadableStream,
  signal?: AbortSignal,
): Promise<{ path: string; close: () => Promise<void> }> {
  const act = `copy ${name} to`;
  const unwritable = (cause: unknown) => {
    throw temporaryProblem(act, cause);
  };
  const folder = temporaryFolder(act);
  const close = () => rm(folder, { recursive: true, force: true });
  const path = join(folder, "copy");
  let file: OpenFile | undefined;
  try {
    file = await newFile(path).catch(unwritable);
    if (signal !== undefined) addAbortSignal(signal, stream as Readable);
    let line = 0;
    for await (const chunk of stream as AsyncIterable<Buffer | string>) {
      const bytes = Buffer.from(chunk as Buffer);
      await file.write(bytes).catch(unwritable);
      const lineEnd = Math.max(bytes.lastIndexOf(10), bytes.lastIndexOf(13));
      line = lineEnd === -1 ? line + bytes.length : bytes.length - 1 - lineEnd;
      if (line > longestLine) throw tooLong(name);
    }
    return { path, close };
  } catch (error) {
    await close();
    signal?.throwIfAborted();
    throw error;
  } finally {
    await file?.close();
  }
}

const tooLong = (name: string): CatError =>
  new CatError(`${name} has a line of more than 8 MiB`, {
    type: "input",
    code: "record_too_long",
    hint: "Check that it is a CSV or NDJSON file.",
  });

/** A megabyte may expand to a thousand, and fill the disk. */
const largest = 1024 ** 3;

/** Expands a file into a private copy. Throws a CatError for a damaged file, and as `privateCopy` does. */
export async function expandedCopy(
  name: string,
  file: string,
  signal?: AbortSignal,
): ReturnType<typeof privateCopy> {
  const expanded = Readable.from(bounded(name, file), { objectMode: false });
  const copy = await privateCopy(name, expanded, signal).catch((error: NodeJS.ErrnoException) => {
    throw error.code?.startsWith("Z_") ? damaged(name) : error;
  });
  if (!isGzip(await fileStart(copy.path, 2))) return copy;
  await copy.close();
  throw rejected(`${name} is compressed twice`, "Expand it once, and use that file.");
}

async function* bounded(name: string, file: string): AsyncGenerator<Buffer> {
  let length = 0;
  const { createGunzip } = await import("node:zlib");
  // The errors of both streams arrive at the reader.
  const gunzip = pipeline(createReadStream(file), createGunzip(), () => {});
  for await (const chunk of gunzip) {
    length += chunk.length;
    if (length > largest)
      throw rejected(
        `${name} is larger than 1 GiB when it is expanded`,
        "Check where it comes from. Expand it with gunzip, and use that file.",
      );
    yield chunk;
  }
}

const damaged = (name: string): CatError =>
  rejected(`${name} is damaged or incomplete: it cannot be expanded`, "Download or compress it again.");

const rejected = (message: string, hint: string): CatError =>
  new CatError(message, { type: "input", code: "unreadable_gzip", hint });
