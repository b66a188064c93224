import { close, open, read, write } from "node:fs";
import { promisify } from "node:util";
import { crc32, createInflateRaw, inflateRaw } from "node:zlib";
import type { ZipEntry } from "./read-entries.ts";

/** Bytes read and written at once. An entry that fits is inflated in one piece. */
export const pieceBytes = 1024 * 1024;

/** Handles of fs/promises cost as much as writing a small file. */
const openFile = promisify(open);
const closeFile = promisify(close);
const readPiece = promisify(read);
const writePiece = promisify(write);
const inflatePiece = promisify(inflateRaw);

/** The bytes of an entry are not those that the list of files declares; the message says how. */
export class WrongBytes extends Error {}

/**
 * Writes the bytes of an entry to a new file, never more than declared, and compares their length and CRC-32. `buffer` has
 * `pieceBytes` and belongs to this call until it ends. Throws WrongBytes, and errors of the file system.
 */
export async function writeEntry(
  zip: number,
  entry: ZipEntry,
  { path, buffer, onBytes }: { path: string; buffer: Buffer; onBytes: (bytes: number) => void },
): Promise<void> {
  // A new file, and never one that a link leads to.
  const file = await openFile(path, "wx");
  try {
    let written = 0;
    let crc = 0;
    for await (const piece of entry.isDeflated ? inflated(zip, entry, buffer) : pieces(zip, entry, buffer)) {
      if (written + piece.length > entry.size) throw new WrongBytes("is longer than declared");
      crc = crc32(piece, crc);
      await writeAll(file, piece);
      written += piece.length;
      onBytes(piece.length);
    }
    if (written < entry.size) throw new WrongBytes("is shorter than declared");
    if (crc !== entry.crc) throw new WrongBytes("has another checksum than declared");
  } finally {
    await closeFile(file);
  }
}

/** The bytes of an entry as they are in the ZIP. */
async function* pieces(zip: number, { at, stored }: ZipEntry, buffer: Buffer): AsyncGenerator<Buffer> {
  for (let done = 0; done < stored; ) {
    const length = Math.min(buffer.length, stored - done);
    const { bytesRead } = await readPiece(zip, buffer, 0, length, at + done);
    if (bytesRead === 0) throw new WrongBytes("is incomplete");
    yield buffer.subarray(0, bytesRead);
    done += bytesRead;
  }
}

async function* inflated(zip: number, entry: ZipEntry, buffer: Buffer): AsyncGenerator<Buffer> {
  try {
    if (entry.stored <= pieceBytes && entry.size <= pieceBytes) {
      const parts: Buffer[] = [];
      for await (const piece of pieces(zip, entry, buffer)) parts.push(piece);
      // One byte more than declared is enough to notice that there are more.
      const options = { maxOutputLength: entry.size + 1 };
      yield await inflatePiece(parts[0] ?? Buffer.alloc(0), options);
      return;
    }
    const inflate = createInflateRaw({ chunkSize: 256 * 1024 });
    const feeding = feed(inflate, pieces(zip, entry, buffer));
    try {
      for await (const piece of inflate) yield piece as Buffer;
      await feeding;
    } finally {
      inflate.destroy();
      await feeding.catch(() => {});
    }
  } catch (error) {
    throw asWrongBytes(error);
  }
}

/** Writes pieces to a stream; each is used up before the next one replaces it. */
async function feed(inflate: NodeJS.WritableStream, source: AsyncIterable<Buffer>): Promise<void> {
  for await (const piece of source)
    await new Promise<void>((done, fail) => {
      inflate.write(piece, (error) => (error ? fail(error) : done()));
    });
  inflate.end();
}

/** Errors of zlib are about the bytes. */
function asWrongBytes(error: unknown): unknown {
  const { code } = error as { code?: unknown };
  if (code === "ERR_BUFFER_TOO_LARGE") return new WrongBytes("is longer than declared");
  const isOfZlib = typeof code === "string" && (code.startsWith("Z_") || code === "ERR_STREAM_DESTROYED");
  return isOfZlib ? new WrongBytes("cannot be decompressed", { cause: error }) : error;
}

async function writeAll(file: number, piece: Buffer): Promise<void> {
  for (let done = 0; done < piece.length; )
    done += (await writePiece(file, piece, done, piece.length - done, null)).bytesWritten;
}
