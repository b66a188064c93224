import { createHash } from "node:crypto";

/** The file of a form field. */
export interface FilePart {
  readonly bytes: Uint8Array;
  readonly filename: string;
}

/**
 * A form with one file, as bytes with their content type. The boundary is derived from the file's digest: the
 * same file gives the same bytes, so that a retry under its idempotency key is the same request.
 */
export function multipartForm(field: string, file: FilePart): { contentType: string; body: Uint8Array } {
  const boundary = createHash("sha256").update(file.bytes).update(file.filename).digest("hex").slice(0, 40);
  const bytes = Buffer.from(file.bytes.buffer, file.bytes.byteOffset, file.bytes.byteLength);
  const head =
    `--${boundary}\r\n` +
    `Content-Disposition: form-data; name="${field}"; filename="${escaped(file.filename)}"\r\n` +
    "Content-Type: application/octet-stream\r\n\r\n";
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.concat([Buffer.from(head), bytes, Buffer.from(`\r\n--${boundary}--\r\n`)]),
  };
}

/** A file name in quotes, as browsers write it (HTML, multipart/form-data encoding). */
const escaped = (filename: string): string =>
  filename.replace(/[\r\n"]/g, (character) => ({ "\r": "%0D", "\n": "%0A" })[character] ?? "%22");
