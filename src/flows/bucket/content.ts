// Content of objects: bytes that can be sent several times.

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { rm } from "node:fs/promises";
import type { Readable } from "node:stream";
import { newFile, type OpenFile } from "../../open-file.ts";

/** Bytes that can be sent several times. */
export interface ObjectContent {
  readonly bytes: number;
  /** Base64. */
  readonly md5: string;
  open(): Uint8Array | Readable;
}

export const toContent = (body: Uint8Array): ObjectContent => ({
  bytes: body.length,
  md5: createHash("md5").update(body).digest("base64"),
  open: () => body,
});

export async function fileContent(path: string): Promise<ObjectContent> {
  const md5 = createHash("md5");
  let bytes = 0;
  for await (const chunk of createReadStream(path)) {
    md5.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, md5: md5.digest("base64"), open: () => createReadStream(path) };
}

/** Content that can be sent again. Call `release` at the end. */
interface Spooled {
  readonly content: ObjectContent;
  release(): Promise<void>;
}

/** Reads content into memory, or into a file if it is larger. A file at a path is sent as it is. */
export async function spool(
  content: Iterable<Uint8Array> | AsyncIterable<Uint8Array> | string,
  { memory, file: path }: { readonly memory: number; readonly file: string },
): Promise<Spooled> {
  if (typeof content === "string") return { content: await fileContent(content), release: async () => {} };
  const md5 = createHash("md5");
  let parts: Uint8Array[] = [];
  let bytes = 0;
  let file: OpenFile | null = null;
  const release = async () => {
    if (file !== null) await rm(path, { force: true });
  };
  try {
    for await (const part of content) {
      md5.update(part);
      bytes += part.length;
      parts.push(part);
      if (bytes <= memory) continue;
      file ??= await newFile(path);
      await file.write(Buffer.concat(parts));
      parts = [];
    }
  } catch (error) {
    await file?.close();
    await release();
    throw error;
  }
  await file?.close();
  const whole = file !== null ? null : parts.length === 1 ? parts[0]! : Buffer.concat(parts);
  const digest = md5.digest("base64");
  return { content: { bytes, md5: digest, open: () => whole ?? createReadStream(path) }, release };
}
