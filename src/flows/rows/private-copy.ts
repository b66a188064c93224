import { type FileHandle, mkdtemp, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { addAbortSignal, type Readable } from "node:stream";
import { CatError, fileProblem } from "../../errors.ts";

/** Bytes after which the copy so far is checked once. */
const lookAfter = 4 * 1024 * 1024;

/** More bytes than any valid record has in any encoding (`maxRecordLength`). */
const longestLine = 8 * 1024 * 1024;

export interface CopyPlace {
  signal?: AbortSignal | undefined;
  /** Whether the check will reject the start of the copy, so that the rest need not be read. */
  isHopeless: (path: string) => Promise<boolean>;
}

/**
 * Copies an input that can be read only once into a folder that only this user can read. An endless input,
 * such as a device, is cut off as soon as the check is certain to reject it. Throws a CatError if the copy
 * cannot be written, and the errors of the stream.
 */
export async function privateCopy(
  name: string,
  stream: NodeJS.ReadableStream,
  place: CopyPlace,
): Promise<{ path: string; isCut: boolean; close: () => Promise<void> }> {
  // Loaded on demand: most inputs are files.
  const { tmpdir } = await import("node:os");
  const unwritable = (cause: unknown) =>
    new CatError(
      `cannot copy ${name} to the temporary folder ${tmpdir()}: ${fileProblem(cause)?.why ?? (cause as Error).message}`,
      {
        type: "output",
        code: "no_temporary_folder",
        cause,
        hint: "Set TMPDIR to a folder with more space, or save the rows to a file and import that.",
      },
    );
  const folder = await mkdtemp(join(tmpdir(), "catalogue-")).catch((error) => {
    throw unwritable(error);
  });
  const close = () => rm(folder, { recursive: true, force: true });
  const path = join(folder, "copy");
  let file: FileHandle | undefined;
  try {
    file = await open(path, "wx", 0o600).catch((error) => {
      throw unwritable(error);
    });
    if (place.signal !== undefined) addAbortSignal(place.signal, stream as Readable);
    let written = 0;
    let line = 0;
    for await (const chunk of stream as AsyncIterable<Buffer | string>) {
      const bytes = Buffer.from(chunk as Buffer);
      await file.writeFile(bytes).catch((error) => {
        throw unwritable(error);
      });
      const lineEnd = Math.max(bytes.lastIndexOf(10), bytes.lastIndexOf(13));
      line = lineEnd === -1 ? line + bytes.length : bytes.length - 1 - lineEnd;
      const looks = written < lookAfter && written + bytes.length >= lookAfter;
      written += bytes.length;
      if (line > longestLine || (looks && (await place.isHopeless(path)))) break;
    }
    return { path, isCut: line > longestLine, close };
  } catch (error) {
    await close();
    place.signal?.throwIfAborted();
    throw error;
  } finally {
    await file?.close();
  }
}
