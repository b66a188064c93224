import { limits } from "../contract/limits.ts";
import { asFileError, CatalogueError } from "../errors.ts";
import type { FilePart } from "../http/send.ts";
import type { ImageSource } from "./api/calls.ts";

/** Reads an image to upload. A retry needs the bytes again, so they are kept, up to the limit of an image. */
export async function filePart(source: ImageSource): Promise<FilePart> {
  if (typeof source === "string" || source instanceof URL) return fromPath(source);
  if (source instanceof Uint8Array) return part(source, "image");
  if (source instanceof ArrayBuffer) return part(new Uint8Array(source), "image");
  if (source instanceof Blob) {
    const { name = "image" } = source as { name?: string };
    checkSize(source.size);
    return part(new Uint8Array(await source.arrayBuffer()), name);
  }
  if (typeof source === "object" && source !== null && "bytes" in source) {
    return part(source.bytes, source.filename);
  }
  if (typeof source === "object" && source !== null && Symbol.asyncIterator in source) {
    return part(await collected(source as AsyncIterable<Uint8Array>), "image");
  }
  throw new TypeError(
    "images.upload takes a Blob, bytes (Buffer, Uint8Array), a stream, a path, or { bytes, filename }",
  );
}

async function fromPath(path: string | URL): Promise<FilePart> {
  const { createReadStream } = await import("node:fs");
  try {
    const bytes = await collected(createReadStream(path));
    const name = typeof path === "string" ? path : decodeURIComponent(path.pathname);
    return { bytes, filename: name.split(/[/\\]/).at(-1) || "image" };
  } catch (error) {
    throw asFileError(error);
  }
}

async function collected(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream) {
    if (!(chunk instanceof Uint8Array))
      throw new TypeError("images.upload: the stream must consist of bytes");
    size += chunk.length;
    checkSize(size);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function part(bytes: Uint8Array, filename: string): FilePart {
  if (!(bytes instanceof Uint8Array)) throw new TypeError("images.upload: bytes must be a Uint8Array");
  if (typeof filename !== "string") throw new TypeError("images.upload: filename must be a string");
  checkSize(bytes.length);
  return { bytes, filename };
}

function checkSize(bytes: number): void {
  if (bytes <= limits.imageBytes) return;
  throw new CatalogueError(`the image is larger than ${limits.imageBytes / 1024 / 1024} MB`, {
    type: "invalid_request",
    code: "body_too_large",
    hint: "Upload a smaller version of the image.",
  });
}
