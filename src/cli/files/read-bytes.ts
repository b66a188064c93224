import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import type { Context } from "../context/context.ts";
import { UsageError } from "../context/errors.ts";

/** The most bytes of an input, and what to say about a longer one. */
export interface ByteLimit {
  readonly bytes: number;
  /** The same for people, e.g. `10 MB`. */
  readonly shown: string;
  readonly param: string;
  readonly hint: string;
}

/** All bytes of a file, or of stdin for `-`. Throws UsageError beyond the limit, and errors of the system. */
export async function readBytes(
  file: string,
  { stdin, cwd }: Pick<Context, "stdin" | "cwd">,
  { bytes, shown, param, hint }: ByteLimit,
): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of file === "-" ? stdin : openFile(resolve(cwd, file))) {
    chunks.push(Buffer.from(chunk as Buffer));
    length += chunk.length;
    if (length > bytes) {
      throw new UsageError(`${file === "-" ? "standard input" : file} has more than ${shown}`, {
        param,
        hint,
      });
    }
  }
  return Buffer.concat(chunks);
}

/** The chunks of a file. The error of a folder names it. */
async function* openFile(path: string): AsyncGenerator<Buffer> {
  try {
    yield* createReadStream(path);
  } catch (error) {
    throw Object.assign(error as Error, { path });
  }
}
