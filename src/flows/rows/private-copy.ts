import { constants, open as openDescriptor } from "node:fs";
import { type FileHandle, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { addAbortSignal, type Readable } from "node:stream";
import { CatError } from "../../errors.ts";
import { temporaryFolder, temporaryProblem } from "../files/temporary-folder.ts";

/**
 * Whether a path is only a descriptor of this process: no file can be written next to it, or found again
 * later.
 */
export const isDescriptor = (path: string): boolean =>
  /^\/(?:dev\/(?:stdin|fd\/\d+)|proc\/(?:self|thread-self|\d+)\/fd\/\d+)$/.test(path);

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
 * Copies an input that can be read only once into a folder that only this user can read. Throws a CatError if the copy
 * cannot be written, or for a line that no file of rows has: a device may be endless. Passes on the errors of the stream.
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
  let file: FileHandle | undefined;
  try {
    file = await open(path, "wx", 0o600).catch(unwritable);
    if (signal !== undefined) addAbortSignal(signal, stream as Readable);
    let line = 0;
    for await (const chunk of stream as AsyncIterable<Buffer | string>) {
      const bytes = Buffer.from(chunk as Buffer);
      await file.writeFile(bytes).catch(unwritable);
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
