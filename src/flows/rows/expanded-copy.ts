// A file compressed with gzip is expanded once, into a private copy that each walk reads.

import { createReadStream } from "node:fs";
import { pipeline, Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { CatError } from "../../errors.ts";
import { fileStart } from "../files/disk.ts";
import { privateCopy } from "./private-copy.ts";

const isGzip = (start: Buffer): boolean => start[0] === 0x1f && start[1] === 0x8b;

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
