import { createReadStream } from "node:fs";
import { join } from "node:path";
import { detectImageType } from "../../../contract/image-file.ts";
import { imageTypes } from "../../../contract/value-sets.ts";
import { sourceOfAsset } from "../../files/ai-label.ts";
import type { FileFetcher } from "../../files/download-file.ts";
import {
  type DownloadedFile,
  downloadFile,
  hashParts,
  rejectIncompleteImage,
} from "../../files/download-file.ts";
import { shortDigest } from "../../short-digest.ts";
import type { ListedAsset } from "./mirror-entry.ts";

export interface ImageFacts extends Pick<DownloadedFile, "bytes" | "label" | "sent"> {
  readonly sha256: string;
  /** By its bytes. */
  readonly mime_type: string;
}

interface DownloadedImage extends ImageFacts {
  /** Null for an image on the disk. */
  readonly chunks: readonly Uint8Array[] | null;
  /** Where it is, if it is not in memory. */
  readonly path: string;
}

interface AssetDownload {
  /** The folder for what is too large for memory. */
  readonly scratch: string;
  /** Whether an earlier run has left a file with this name there. */
  readonly isLeft: (name: string) => boolean;
  readonly freshUrl: () => Promise<string>;
  readonly signal: AbortSignal;
  readonly maxBytes: number;
  readonly label: boolean;
  /** Whether an image in memory is one piece, as it is sent to a store. */
  readonly isJoined: boolean;
}

/** Downloads an image of the announced type. Throws a CatError. */
export async function downloadAsset(
  downloads: FileFetcher,
  { fields, url }: ListedAsset,
  { scratch, isLeft, freshUrl, signal, maxBytes, label, isJoined }: AssetDownload,
): Promise<DownloadedImage> {
  const { product_id, asset_id, mime_type: announced, role, ai_generated } = fields;
  // One asset may belong to several products: each has a part of its own.
  const name = `large-${shortDigest(`${product_id} ${asset_id}`, 16).toString("hex")}`;
  const path = join(scratch, name);
  let mime_type = "";
  const { chunks, ...file } = await downloadFile(downloads, {
    path,
    inMemory: true,
    isLeft,
    url,
    freshUrl,
    signal,
    limits: { maxBytes },
    label: label ? sourceOfAsset({ ai_generated, role }) : null,
    digestsSent: true,
    resource: asset_id,
    imageProblem: (head) => {
      mime_type = detectImageType(head) ?? "";
      return imageProblem(head, announced);
    },
    // Its length may be unknown; one in memory has its announced length.
    check: async (part) => rejectIncompleteImage(part, url),
  });
  const sha256 = await hashParts(chunks ?? createReadStream(path, { highWaterMark: 1024 * 1024 }));
  return { ...file, chunks: isJoined && chunks ? [Buffer.concat(chunks)] : chunks, path, sha256, mime_type };
}

function imageProblem(head: Uint8Array, announced: string): string | null {
  const type = detectImageType(head);
  if (type === null) return "is not a JPEG, PNG or WebP image";
  const isKnown = (imageTypes as readonly string[]).includes(announced);
  return isKnown && type !== announced ? `is ${type}, not ${announced}` : null;
}
