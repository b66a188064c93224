import { type FileHandle, mkdtemp, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { addAbortSignal, type Readable } from "node:stream";
import { CatError, fileFault } from "../../errors.ts";

/** What stands so far in the copy is looked at once this much of it is there, in bytes. */
const lookAfter = 4 * 1024 * 1024;

/** No record is as long as that in any encoding (`maxRecordLength`, in bytes). */
const longestLine = 8 * 1024 * 1024;

export interface CopyPlace {
  signal?: AbortSignal | undefined;
  /** Whether the start of the copy is such that the rest need not be read, as the check will refuse it. */
  isHopeless: (path: string) => Promise<boolean>;
}

/**
 * Copies what can be read only once into a folder that nobody else may read. What has no end, as a device may have none, is
 * not copied to its end: it is left where it is certain that the check will refuse it. Throws a CatError when the copy
 * cannot be written, and what the stream throws.
 */
export async function privateCopy(
  name: string,
  stream: NodeJS.ReadableStream,
  place: CopyPlace,
): Promise<{ path: string; isCut: boolean; close: () => Promise<void> }> {
  // Loaded here, as most inputs are files: every start would pay for it.
  const { tmpdir } = await import("node:os");
  const unwritable = (cause: unknown) =>
    new CatError(
      `cannot copy ${name} to the temporary folder ${tmpdir()}: ${fileFault(cause)?.why ?? (cause as Error).message}`,
      {
        type: "output",
        code: "no_temporary_folder",
        cause,
        hint: "Set TMPDIR to another folder with more room, or save the rows in a file and use that.",
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
