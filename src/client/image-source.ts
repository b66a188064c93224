import { isAnyArrayBuffer, isUint8Array } from "node:util/types";
import { limits } from "../contract/limits.ts";
import { asFileError, CatalogueError } from "../errors.ts";
import type { FilePart } from "../http/send.ts";
import { untilAborted } from "../http/time-limits.ts";
import type { ImageSource, Upload } from "./api/calls.ts";

/**
 * Reads an image to upload, until `signal`. A retry needs the bytes again, so they are kept, up to the limit
 * of an image. Throws a TypeError for something else than an image, and a CatalogueError if it cannot be read
 * or is too large.
 */
export function readImage(upload: Upload, signal: AbortSignal | undefined): Promise<FilePart> {
  const isNamed = typeof upload === "object" && upload !== null && "file" in upload;
  return filePart(isNamed ? upload.file : upload, signal);
}

async function filePart(source: ImageSource, signal: AbortSignal | undefined): Promise<FilePart> {
  if (typeof source === "string" || source instanceof URL) return fromPath(source, signal);
  if (isUint8Array(source)) return part(source, "image");
  if (isAnyArrayBuffer(source)) return part(new Uint8Array(source), "image");
  if (source instanceof Blob) {
    const { name = "image" } = source as { name?: string };
    checkSize(source.size);
    return part(new Uint8Array(await source.arrayBuffer()), name);
  }
  if (typeof source === "object" && source !== null && "bytes" in source) {
    return part(source.bytes, source.filename);
  }
  if (typeof source === "object" && source !== null && Symbol.asyncIterator in source) {
    return part(await collected(source as AsyncIterable<Uint8Array>, "the stream", signal), "image");
  }
  throw new TypeError(
    "images.upload takes a Blob, bytes (Buffer, Uint8Array), a stream, a path, or { bytes, filename }",
  );
}

async function fromPath(path: string | URL, signal: AbortSignal | undefined): Promise<FilePart> {
  const { createReadStream } = await import("node:fs");
  const bytes = await collected(createReadStream(path), String(path), signal);
  const name = typeof path === "string" ? path : decodeURIComponent(path.pathname);
  return { bytes, filename: name.split(/[/\\]/).at(-1) || "image" };
}

/** All bytes of a stream, which `name` calls in errors. */
async function collected(
  stream: AsyncIterable<unknown>,
  name: string,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  const parts = stream[Symbol.asyncIterator]();
  const chunks: Uint8Array[] = [];
  let size = 0;
  const next = async () => {
    try {
      return await untilAborted(parts.next(), signal);
    } catch (error) {
      throw signal?.aborted ? error : readError(error, name);
    }
  };
  try {
    for (;;) {
      const { done, value } = await next();
      if (done === true) break;
      if (!isUint8Array(value)) throw new TypeError("images.upload: the stream must consist of bytes");
      size += value.length;
      checkSize(size);
      chunks.push(value);
    }
  } catch (error) {
    // Not awaited: a stream that hangs may never end.
    void Promise.resolve(parts.return?.()).catch(() => {});
    throw error;
  }
  if (size === 0) throw invalid(`${name} is empty`, "not_an_image", "A stream can be read only once.");
  return Buffer.concat(chunks);
}

function readError(error: unknown, name: string): unknown {
  const known = asFileError(error, name);
  if (known instanceof CatalogueError) return known;
  const message = `cannot read ${name}: ${error instanceof Error ? error.message : String(error)}`;
  return new CatalogueError(message, { type: "file", code: "stream_failed", cause: error });
}

function part(bytes: Uint8Array, filename: string): FilePart {
  if (!isUint8Array(bytes)) throw new TypeError("images.upload: bytes must be a Uint8Array");
  if (typeof filename !== "string") throw new TypeError("images.upload: filename must be a string");
  checkSize(bytes.length);
  return { bytes, filename };
}

function checkSize(bytes: number): void {
  if (bytes <= limits.imageBytes) return;
  const message = `the image is larger than ${limits.imageBytes / 1024 / 1024} MB`;
  throw invalid(message, "body_too_large", "Upload a smaller version of the image.");
}

const invalid = (message: string, code: string, hint: string): CatalogueError =>
  new CatalogueError(message, { type: "invalid_request", code, hint });
