import type { ImportRowImage } from "../../contract/import-row.ts";
import { drawnSize } from "../drawing/subjects.ts";
import type { Ids } from "../seed/ids.ts";
import type { AcceptedRow, ImportJob } from "../store/import-record.ts";
import type { ImageRecord, Organization } from "../store/organization.ts";
import { failureAskedFirst } from "./asked-failure.ts";
import { type Fetched, fetchProblem, type Problem } from "./fetch-image.ts";

/** What was fetched for each image of a row, in their order; null for one that was not to be fetched. */
export type RowImages = readonly (Fetched | null)[];

type Content = Pick<ImageRecord, "mime_type" | "width" | "height" | "bytes" | "seed">;

/** An image that a row can have: one that was uploaded, or what stands at its URL. */
export type Found = { readonly uploaded: ImageRecord } | { readonly content: Content };

/** Whether a row's images are looked at: not where its reference decides already what becomes of it (Imports, rule 3). */
export const needsImages = (
  organization: Organization,
  { mode }: Pick<ImportJob, "mode">,
  { reference }: AcceptedRow,
): boolean => mode === "upsert" || organization.products.withReference(reference) === undefined;

/** Looks for one image of a row, before anything is created. */
export function seekImage(
  { organization, images }: { organization: Organization; images: RowImages | null },
  image: ImportRowImage,
  index: number,
): Found | { readonly problem: Problem } {
  if (image.image_id !== undefined) {
    const uploaded = organization.images.get(image.image_id);
    if (uploaded !== undefined) return { uploaded };
    return { problem: { code: "image_not_found", message: "there is no such image" } };
  }
  const url = image.url!;
  const code = failureOf(url);
  if (code !== null) return fetchProblem(code);
  const fetched = images?.[index] ?? null;
  if (fetched === null) return { content: pictureFor(url) };
  return "problem" in fetched ? fetched : { content: { ...fetched, seed: "" } };
}

/**
 * The code that a URL is to fail with: its last path segment begins with `fail-CODE`. A code that nobody knows is passed
 * on, as the set may grow (ImportRowResult).
 */
export function failureOf(url: string): string | null {
  const path = url.replace(/[?#].*$/s, "");
  return failureAskedFirst(path.slice(path.lastIndexOf("/") + 1));
}

/** The image as the organization has it: what came from a URL is kept as a new one. */
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

/** A generated picture in place of what stands at the URL: the same one for the same URL. */
function pictureFor(url: string): Content {
  const extension = /\.(png|webp)(?:[?#]|$)/i.exec(url)?.[1]?.toLowerCase();
  const mime_type = extension === "png" ? "image/png" : extension === "webp" ? "image/webp" : "image/jpeg";
  return { mime_type, width: drawnSize.width, height: drawnSize.height, bytes: null, seed: url };
}
