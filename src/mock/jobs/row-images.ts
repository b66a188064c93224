import type { ImportRowImage } from "../../contract/import-row.ts";
import { drawnSize } from "../drawing/subjects.ts";
import type { Ids } from "../seed/ids.ts";
import type { AcceptedRow, ImportJob } from "../store/import-record.ts";
import type { ImageRecord, Organization } from "../store/organization.ts";
import { type Fetched, fetchProblem, type Problem } from "./fetch-image.ts";
import { requestedFailureAtStart } from "./requested-failure.ts";

/** The fetched images of a row, in order; null for an image that need not be fetched. */
export type RowImages = readonly (Fetched | null)[];

type Content = Pick<ImageRecord, "mime_type" | "width" | "height" | "bytes" | "seed">;

/** An image for a row: an uploaded one, or the content of its URL. */
export type Found = { readonly uploaded: ImageRecord } | { readonly content: Content };

/**
 * Whether the images of a row matter; they do not if the mode and an existing reference decide the result
 * (Imports, rule 3).
 */
export const needsImages = (
  organization: Organization,
  { mode }: Pick<ImportJob, "mode">,
  { reference }: AcceptedRow,
): boolean => mode === "upsert" || organization.products.withReference(reference) === undefined;

/** Finds one image of a row, before anything is created. */
export function seekImage(
  { organization, images }: { organization: Organization; images: RowImages | null },
  image: ImportRowImage,
  index: number,
): Found | { readonly problem: Problem } {
  if (image.image_id !== undefined) {
    const uploaded = organization.images.get(image.image_id);
    if (uploaded !== undefined) return { uploaded };
    return { problem: { code: "image_not_found", message: "image not found" } };
  }
  const url = image.url!;
  const code = failureOf(url);
  if (code !== null) return fetchProblem(code);
  const fetched = images?.[index] ?? null;
  if (fetched === null) return { content: pictureFor(url) };
  return "problem" in fetched ? fetched : { content: { ...fetched, seed: "" } };
}

/**
 * The error code requested by a URL whose last path segment starts with `fail-CODE`. Unknown codes are
 * allowed, because the set can grow (ImportRowResult).
 */
export function failureOf(url: string): string | null {
  const path = url.replace(/[?#].*$/s, "");
  return requestedFailureAtStart(path.slice(path.lastIndexOf("/") + 1));
}

/** The image record of the organization. The content of a URL is stored as a new image. */
export function keepImage(
  { organization, ids }: { organization: Organization; ids: Ids },
  found: Found,
  now: string,
): ImageRecord {
  if ("uploaded" in found) return found.uploaded;
  const { mime_type, width, height, bytes, seed } = found.content;
  const id = ids.next();
  const record: ImageRecord = {
    id,
    mime_type,
    created_at: now,
    width,
    height,
    bytes,
    subject: "",
    seed,
    generation: null,
  };
  organization.images.set(id, record);
  return record;
}

/** A generated picture instead of the content of a URL; the same URL gives the same picture. */
function pictureFor(url: string): Content {
  const extension = /\.(png|webp)(?:[?#]|$)/i.exec(url)?.[1]?.toLowerCase();
  const mime_type = extension === "png" ? "image/png" : extension === "webp" ? "image/webp" : "image/jpeg";
  return { mime_type, width: drawnSize.width, height: drawnSize.height, bytes: null, seed: url };
}
