import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Client } from "../../../client/client.ts";
import { imageTypeOf } from "../../../contract/image-file.ts";
import { imageTypes } from "../../../contract/value-sets.ts";
import { downloadFile } from "../../files/download-file.ts";
import { rejectIncompleteImage } from "../../files/image-end.ts";
import { shortDigest } from "../../short-digest.ts";
import type { Content } from "./mirror-store.ts";

/** A complete image. */
export interface DownloadedImage {
  /** Can be read several times. */
  readonly content: () => Content;
  readonly bytes: number;
  readonly sha256: string;
  /** By its bytes. */
  readonly mime_type: string;
  /** Removes what it has on the disk. */
  release(): Promise<void>;
}

interface Download {
  readonly url: string;
  readonly freshUrl: () => Promise<string>;
  /** The type that the service announces; one that this program does not know is not compared. */
  readonly announced: string;
  readonly assetId: string;
  readonly productId: string;
  /** A folder for images that are too large for memory. */
  readonly scratch: string;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** Downloads an image of the announced type. Throws a CatError. */
export async function downloadImage(
  client: Pick<Client, "downloadInto">,
  { url, freshUrl, announced, assetId, productId, scratch, maxBytes, signal }: Download,
): Promise<DownloadedImage> {
  const limits = { maxBytes };
  // One asset may belong to several products: each has a part of its own.
  const path = join(scratch, `large-${shortDigest(`${productId} ${assetId}`, 16).toString("hex")}`);
  let mime_type = "";
  const { bytes, chunks } = await downloadFile(client, {
    path,
    inMemory: true,
    url,
    freshUrl,
    signal,
    limits,
    resource: assetId,
    problemOf: (head) => {
      mime_type = imageTypeOf(head) ?? "";
      return problemOf(head, announced);
    },
    // Its length may be unknown; one in memory has its announced length.
    check: async (part) => rejectIncompleteImage(part, url),
  });
  if (chunks !== null)
    return { content: () => chunks, bytes, sha256: await digest(chunks), mime_type, release: async () => {} };
  const content = () => createReadStream(path, { highWaterMark: 1024 * 1024 });
  const sha256 = await digest(content());
  return { content, bytes, sha256, mime_type, release: () => rm(path, { force: true }) };
}

function problemOf(head: Uint8Array, announced: string): string | null {
  const type = imageTypeOf(head);
  if (type === null) return "is not a JPEG, PNG or WebP image";
  const isKnown = (imageTypes as readonly string[]).includes(announced);
  return isKnown && type !== announced ? `is ${type}, not ${announced}` : null;
}

async function digest(content: Content): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of content) hash.update(chunk);
  return hash.digest("hex");
}

/** Removes unfinished downloads that no later run resumes. */
export async function clearScratch(scratch: string): Promise<void> {
  const names = await readdir(scratch).catch(() => []);
  for (const name of names) await rm(join(scratch, name), { force: true, recursive: true });
}
