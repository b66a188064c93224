import { createHash } from "node:crypto";
import { brotliDecompressSync, constants, gunzipSync, inflateSync } from "node:zlib";
import { detectForeignType, detectImageType, isHeic } from "../../contract/image-file.ts";
import { limits } from "../../contract/limits.ts";
import type { imageErrorCodes } from "../../contract/value-sets.ts";
import { CatalogueError } from "../../errors.ts";
import { blockedHost, NetworkError, TimeoutError } from "../../http/errors.ts";
import type { OutsideExchange } from "../../http/outside-exchange.ts";
import { imageInMemory } from "../files/image-bytes.ts";
import { readImageHead } from "../files/image-head.ts";
import { grouped } from "../words.ts";

/** A picture with a shorter side only holds the place of a photo, in pixels. */
const shortestSide = 16;
/** Below it, a note counts the photo. */
const smallSide = 200;

export interface UrlVerdict {
  /** Why the service would not take the photo, in words that follow the URL; null if nothing was found. */
  readonly problem: { readonly code: UrlCode; readonly message: string } | null;
  readonly isSmall: boolean;
  /** The same for the same bytes, as far as they were read; null without a photo. */
  readonly content: string | null;
}

type UrlCode = (typeof imageErrorCodes)[number] | "damaged_image";

export class UrlFailure extends Error {
  constructor(
    readonly code: UrlCode,
    message: string,
  ) {
    super(message);
  }
}

const failed = (code: UrlCode, message: string): UrlVerdict => ({
  problem: { code, message },
  isSmall: false,
  content: null,
});

/** The verdict on a response without a photo. */
export const failedWith = (status: number): UrlVerdict =>
  failed("http_error", `responds with status ${status}${statusHint[status] ?? ""}`);

const statusHint: Readonly<Record<number, string>> = {
  401: ": it needs signing in",
  403: ": it needs signing in, or has expired",
  404: ": it does not exist",
  410: ": it was removed",
};

/** The verdict on a URL whose server sent no response. Throws what is no failure of the network. */
export function failureOfUrl(error: unknown): UrlVerdict {
  if (error instanceof UrlFailure) return failed(error.code, error.message);
  if ((error as NodeJS.ErrnoException).code === blockedHost)
    return failed("blocked_host", "is on a host whose address is not public");
  if (error instanceof TimeoutError || isConnectTimeout(error)) return failed("timeout", "does not respond");
  // The fault of this machine is not that of the photo.
  const isLocal =
    error instanceof NetworkError &&
    (/^(?:proxy_unreachable|too_many_|client_)/.test(error.code) ||
      // A proxy that rejects one host may pass on the next one, unlike one that wants a password.
      (error.code === "proxy_refused" && /user name and password/.test(error.message)));
  if (!(error instanceof CatalogueError) || isLocal) throw error;
  if (error.code === "host_not_found") return failed("dns_failed", "has an unknown host");
  return failed("http_error", `cannot be fetched: ${error.message}`);
}

/** Whether a host took no connection in time, or accepted one and stays silent. */
const isConnectTimeout = (error: unknown): boolean =>
  error instanceof NetworkError &&
  error.code === "unreachable" &&
  /TIMEDOUT|TIMEOUT/.test((error.cause as NodeJS.ErrnoException | undefined)?.code ?? "");

export interface ReceivedResponse {
  readonly status: number;
  readonly etag: string | null;
  /** The length of the complete file in bytes; null if it is not known. */
  readonly length: number | null;
  readonly location: string | null;
  /** How long the server asks to wait, in milliseconds. */
  readonly retryMs: number | null;
  /** Whether the bytes were compressed for the way: how many of them are missing is not known then. */
  readonly wasCompressed: boolean;
  readonly bytes: Buffer;
}

/** Some servers compress photos, whatever a client accepts. */
const decompress: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: (bytes) => gunzipSync(bytes, ofStart),
  "x-gzip": (bytes) => gunzipSync(bytes, ofStart),
  deflate: (bytes) => inflateSync(bytes, ofStart),
  br: (bytes) =>
    brotliDecompressSync(bytes, { finishFlush: constants.BROTLI_OPERATION_FLUSH, maxOutputLength }),
};
const maxOutputLength = 16 * 1024 * 1024;
const ofStart = { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength };

function decompressed(bytes: Buffer, read: (bytes: Buffer) => Buffer): Buffer {
  try {
    return bytes.length === 0 ? bytes : read(bytes);
  } catch {
    return bytes;
  }
}

export function toReceived(
  { status, headers }: Pick<Awaited<ReturnType<OutsideExchange>>, "status" | "headers">,
  bytes: Buffer,
): ReceivedResponse {
  const ofRange = /\/(\d{1,15})$/.exec(headers["content-range"] ?? "")?.[1];
  const length = status === 206 ? ofRange : /^\d{1,15}$/.exec(headers["content-length"] ?? "")?.[0];
  const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  const wasCompressed = Object.hasOwn(decompress, encoding);
  const retry = /^\d{1,6}$/.exec(headers["retry-after"] ?? "")?.[0];
  return {
    status,
    etag: headers.etag ?? null,
    length: length === undefined || wasCompressed ? null : Number(length),
    location: headers.location ?? null,
    retryMs: retry === undefined ? null : Number(retry) * 1000,
    wasCompressed,
    bytes: wasCompressed ? decompressed(bytes, decompress[encoding]!) : bytes,
  };
}

/** The verdict on the first bytes of a file, or all of them, with its complete length if it is known. */
export async function judgeHead(bytes: Buffer, length: number | null, isWhole: boolean): Promise<UrlVerdict> {
  const type = detectImageType(bytes);
  if (type === null) return failed("not_an_image", whatElse(bytes));
  if (length !== null && length > limits.imageBytes)
    return failed(
      "too_large",
      `has ${grouped(length)} bytes; the limit is ${grouped(limits.imageBytes)} bytes (10 MB)`,
    );
  const total = Math.max(length ?? 0, bytes.length);
  const image = { ...imageInMemory([bytes]), length: total };
  const { isDamagedImage } = await import("../files/damaged-image.ts");
  // The head of a WebP image has its length.
  const isCut = isWhole
    ? await isDamagedImage(image)
    : type === "image/webp" && length !== null && bytes.readUInt32LE(4) + 8 > length;
  if (isCut)
    return failed("damaged_image", "is a damaged image, its end is missing: upload it to its server again");
  const { width, height } = readImageHead(image) ?? { width: 0, height: 0 };
  const side = Math.min(width, height);
  if (side > 0 && side < shortestSide)
    return failed("not_an_image", `is a picture of ${width} x ${height} pixels, not a photo`);
  const content = `${total} ${createHash("sha256").update(bytes).digest("base64")}`;
  return { problem: null, isSmall: side > 0 && side < smallSide, content };
}

/** The kind of bytes that the service takes for no photo. */
function whatElse(bytes: Buffer): string {
  const start = bytes
    .toString("latin1", 0, 512)
    .replace(/^\u00ef\u00bb\u00bf/, "")
    .trimStart();
  if (/^<(?:!doctype html|html|head|body|script|!--)/i.test(start)) return "is a web page, not a photo";
  if (bytes.length === 0) return "is empty";
  if (isHeic(bytes)) return "is a HEIC image, not a JPEG, PNG or WebP image";
  const foreign = detectForeignType(bytes);
  if (foreign !== null)
    return `is ${foreign === "AVIF" ? "an" : "a"} ${foreign} image, not a JPEG, PNG or WebP image`;
  if (start.startsWith("%PDF")) return "is a PDF, not a photo";
  return "is not a JPEG, PNG or WebP image";
}
