import { shortened } from "../../contract/did-you-mean.ts";
import type { LocalPhotos } from "../photos/local-photos.ts";
import type { PhotoUrls } from "../photos/photo-urls.ts";
import type { FieldNote } from "../rows/notes.ts";
import type { FieldProblem } from "../rows/row-form.ts";
import type { UrlNotes } from "../rows/url-notes.ts";
import { type FileImage, listLocalImages } from "./file-row.ts";

const noNotes: readonly FieldNote[] = [];

function listUrls(row: unknown): { readonly index: number; readonly url: string }[] {
  const images = (row as { images?: unknown } | null)?.images;
  if (!Array.isArray(images)) return [];
  return (images as (Partial<FileImage> | null)[]).flatMap((image, index) =>
    typeof image?.url === "string" ? [{ index, url: image.url }] : [],
  );
}

/** Whether all photos of a row are ordinary URLs: of a million rows, most have nothing to say. */
export function hasPlainPhotos(row: unknown, urls: UrlNotes): boolean {
  const images = (row as { images?: unknown } | null)?.images;
  if (!Array.isArray(images)) return false;
  for (let index = 0; index < images.length; index++) {
    const url: unknown = (images[index] as Partial<FileImage> | null)?.url;
    if (typeof url !== "string" || !urls.isPlain(url)) return false;
  }
  return true;
}

export const urlNotesOf = (row: unknown, urls: UrlNotes): readonly FieldNote[] =>
  listUrls(row).flatMap(({ index, url }) => {
    const code = urls.of(url);
    return code === null ? [] : [{ code, param: `images[${index}].url`, value: url }];
  });

/** The problems of the photos behind the URLs of a row, once each was checked. */
export const urlChecks = (row: unknown, urls: PhotoUrls): Promise<FieldProblem[]>[] =>
  listUrls(row).flatMap(({ index, url }) => {
    const checking = urls.check(url);
    if (checking === null) return [];
    return checking.then(({ problem }) => {
      if (problem === null) return [];
      const param = `images[${index}].url`;
      const cellMessage = `${shortened(url)} ${problem.message}`;
      return [{ param, code: problem.code, message: `${param}: ${cellMessage}`, cellMessage }];
    });
  });

/** Notes photos that the service would show otherwise than programs do, and small ones behind URLs. */
export function photoNotes(
  row: unknown,
  photos: Pick<LocalPhotos, "oddity">,
  urls: PhotoUrls | undefined,
): readonly FieldNote[] {
  let notes = noNotes;
  if (urls !== undefined)
    for (const { index, url } of listUrls(row))
      if (urls.found(url)?.isSmall)
        notes = [...notes, { code: "small_photo", param: `images[${index}].url`, value: url }];
  for (const { index, path } of listLocalImages(row)) {
    const odd = photos.oddity(path);
    if (odd === undefined) continue;
    const at = { param: `images[${index}].path`, value: path };
    const cmyk = odd.isCmyk ? [{ code: "cmyk_photo", ...at } as const] : [];
    const turned = odd.isTurned ? [{ code: "turned_photo", ...at } as const] : [];
    notes = [...notes, ...cmyk, ...turned];
  }
  return notes;
}
