import { stat } from "node:fs/promises";
import type { Client } from "../../../client/client.ts";
import { limits } from "../../../contract/limits.ts";
import type { ExportJob } from "../../../contract/resources/exports.ts";
import { BadAnswerError, SignedUrlError } from "../../../http/errors.ts";
import { downloadFile, type FileDownload } from "../../files/download-file.ts";
import { checkZip } from "../archive/zip.ts";
import { checkManifest, maskManifest } from "./manifest.ts";

/** The artifact of a completed job, and where to save it. */
export interface ArtifactDownload extends Pick<FileDownload, "path" | "signal" | "onProgress"> {
  readonly job: ExportJob;
  /** The file in messages. */
  readonly name: string;
  /** The largest image, in bytes: it limits a ZIP. */
  readonly maxBytes: number;
  /** The products of a manifest; null if they are not known. */
  readonly ids: readonly string[] | null;
}

/**
 * Saves the artifact of a completed export job; resolves to its length. An earlier process may have done so. The file has its
 * name only after its content was checked, and a broken one is downloaded twice. Throws OutputError, and the errors of
 * `downloadFile`.
 */
export async function downloadArtifact(
  client: Client,
  { job, path, name, maxBytes, ids, signal, onProgress }: ArtifactDownload,
): Promise<number> {
  const saved = await stat(path).catch(() => null);
  // Its process may have been killed before it masked the key.
  if (saved?.isFile()) return job.format === "zip" ? saved.size : maskManifest(path, name, client);
  const shown = `the file of export ${job.id}`;
  const { bytes } = await downloadFile(client, {
    path,
    name,
    signal,
    onProgress,
    url: artifactUrl(job),
    resource: job.id,
    limits: { maxBytes: largestArtifact(job, maxBytes) },
    freshUrl: async () => artifactUrl(await client.exports.get({ export_id: job.id }, { signal })),
    check: async (part) => {
      if (job.format === "zip") await checkZip(part, { shown, ...(signal && { signal }) });
      else await checkManifest(part, shown, ids);
    },
  });
  return job.format === "zip" ? bytes : maskManifest(path, name, client);
}

/** More bytes than a line of a manifest has for a product or an image, and than a ZIP adds to an image. */
const besidesImage = 100_000;

/** The most bytes that an honest artifact may have: one that never ends would fill the disk. */
const largestArtifact = ({ format, total_assets }: ExportJob, maxBytes: number): number =>
  format === "zip"
    ? (total_assets + 1) * (maxBytes + besidesImage)
    : (total_assets + limits.exportProducts) * besidesImage;

function artifactUrl({ id, url }: ExportJob): string {
  if (url !== null) return url;
  throw new BadAnswerError(`export ${id} is completed, but has no URL`, { code: "missing_url" });
}

/** Whether another download of the same artifact would fail as well, so that a new job is needed. */
export const isOfArtifact = (error: unknown): boolean =>
  error instanceof SignedUrlError ||
  (error instanceof BadAnswerError && error.code !== "download_refused" && error.code !== "missing_url");
