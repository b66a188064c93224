// URLs that cannot be fetched as they are written: what is wrong with them, and how to write them.

import { shortened } from "../../contract/did-you-mean.ts";
import type { RowProblem } from "../../contract/import-row.ts";
import { limits } from "../../contract/limits.ts";
import { urlBreach } from "../../contract/url-policy.ts";
import { type FieldProblem, photoColumns } from "../rows/row-form.ts";
import { countPhotos, countUrls, hasSeparateUrls } from "../rows/url-notes.ts";
import type { FileRow, InputImage } from "./file-row.ts";

/** The problems of a row's URLs with how to write them, also of those that cannot be fetched. */
export function withUrlProblems(found: readonly RowProblem[], row: unknown): readonly FieldProblem[] {
  const images = (row as { images?: unknown } | null)?.images;
  if (!Array.isArray(images) || (found.length === 0 && !images.some(hasDoubtfulUrl))) return found;
  const problems = new Map<number, FieldProblem>();
  for (const problem of found) {
    const index = imageOf(problem.param);
    if (index !== null) problems.set(index, problem);
  }
  let hasSeveral = false;
  for (const [index, image] of images.slice(0, limits.imagesPerProduct.max).entries()) {
    if (!hasUrl(image)) continue;
    const param = `images[${index}].url`;
    const isDamaged = problems.has(index) || hidden.test(image.url);
    if (areSeveral(image.url, isDamaged)) {
      // The parts of a cell have one problem.
      problems.delete(index);
      const message = `${param} ${severalUrls(image.url, row as Partial<FileRow>, index)}`;
      if (!hasSeveral) problems.set(index, { param, code: "invalid_row", message });
      hasSeveral = true;
      continue;
    }
    const problem = problems.get(index);
    const repair = isDamaged ? repairOf(image.url) : null;
    if (repair === null) continue;
    const message = problem?.message ?? `${param} is not a URL: ${shortened(image.url)}`;
    problems.set(index, { param, code: "invalid_row", message: `${message}: ${repair}` });
  }
  const inOrder = found.flatMap((problem) => {
    const index = imageOf(problem.param);
    if (index === null) return [problem];
    const own = problems.get(index);
    problems.delete(index);
    return own === undefined ? [] : [own];
  });
  return [...inOrder, ...problems.values()];
}

/** A sound URL with several photos is imported, with a note. */
const areSeveral = (url: string, isDamaged: boolean): boolean =>
  hasSeparateUrls(url) || (isDamaged && countPhotos(url) > 1);

/** The problem of a path to no photo, if it is a damaged URL; else null. `why`: the reason for a file. */
export function damagedUrl(path: string, row: unknown, index: number, why: string): string | null {
  const todo = repairOf(path);
  if (countUrls(path) > 1 || (todo !== null && countPhotos(path) > 1))
    return `${shortened(path)} ${severalUrls(path, row as Partial<FileRow>, index)}`;
  if (todo === null) return null;
  // A folder may have the name of a host.
  return todo.includes(addScheme)
    ? `${shortened(path)} is not a URL, an image ID or an existing file (${why}): for a URL, ${todo}`
    : `${shortened(path)} is not a URL: ${todo}`;
}

const imageOf = (param: string | undefined): number | null => {
  const [, index] = /^images\[(\d+)\]\.url$/.exec(param ?? "") ?? [];
  return index === undefined ? null : Number(index);
};

const hasUrl = (image: unknown): image is InputImage & { url: string } =>
  typeof (image as Partial<InputImage> | null)?.url === "string";

/** Nearly every URL is plain ASCII with one scheme. */
const hasDoubtfulUrl = (image: unknown): boolean =>
  hasUrl(image) && (image.url.indexOf("://", "https://".length) !== -1 || hidden.test(image.url));

/** White space and characters that show nothing, except those within words and emoji (U+200C, U+200D). */
const hidden = /[\s\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u2069\ufeff]/;

function severalUrls(text: string, { [photoColumns]: columns }: Partial<FileRow>, index: number): string {
  if (columns === undefined) return "has several URLs: use one image for each";
  return columns[index] === "images"
    ? "has several URLs: put | between them"
    : severalPhotos(Math.max(countUrls(text), countPhotos(text)));
}

export const severalPhotos = (count: number): string =>
  `has ${count} photos, but takes one: use the column "images", or one column per photo (image_1, image_2)`;

/** A kind of damage: what to do about it, and the text without it. */
type Repair = readonly [todo: string, repair: (text: string) => string];

const scheme = /^https?:\/\//i;
const around = /["'`“”„‘’«»‹›<>()[\]{}]/;

const addScheme = "add https:// at the start";

/** In the order in which they are looked for. */
const repairs: readonly Repair[] = [
  ["remove the brackets around the list", (text) => text.replace(/^\[(?=https?:[^\]]*$)/i, "")],
  [
    "write https:// without a space",
    (text) => text.replace(/^(https?)\s*:\s*\/\s*\/\s*(?=\S)/i, (start) => start.replace(/\s+/g, "")),
  ],
  ["write the URL alone", urlAlone],
  ["write / instead of \\", (text) => (/^https?:/i.test(text) ? text.replaceAll("\\", "/") : text)],
  [
    "write : and / instead of %3A and %2F",
    (text) => (/^https?%3a/i.test(text) ? text.replace(/%3a/gi, ":").replace(/%2f/gi, "/") : text),
  ],
  ["write https:// once", (text) => text.replace(/^(?:https?:\/\/)+(?=https?:\/\/)/i, "")],
  [
    "write https:// at the start",
    (text) =>
      scheme.test(text) && !/^https?:\/{3}/i.test(text)
        ? text
        : text.replace(/^h{0,2}t{1,3}p{1,2}s{0,2}(?:[:;]{1,2}\/{1,3}|\/{2,3})(?=[^/])/i, "https://"),
  ],
  ["add https: at the start", (text) => text.replace(/^(?=\/\/[^/])/, "https:")],
  [addScheme, (text) => text.replace(/^(?=(?:[a-z\d][a-z\d-]*\.)+[a-z]{2,}\/.)/i, "https://")],
  ["write %20 instead of each space", (text) => text.replace(/\s/g, "%20")],
  ["remove characters that cannot be seen", (text) => text.split(hidden).join("")],
];

/** How to write a URL that is damaged; null if that would be a guess, or the text is no such URL. */
function repairOf(text: string): string | null {
  if (text.length > longest) return null;
  if (/^data:/i.test(text)) return "save the picture as a file, and use its path";
  const todo: string[] = [];
  let url = text;
  for (const [what, repair] of repairs) {
    const repaired = repair(url);
    if (repaired !== url) todo.push(what);
    url = repaired;
  }
  // An `http://` that remains is the next problem, or is in the message.
  const breach = urlBreach(url.replace(/^http:/i, "https:"));
  return todo.length === 0 || breach !== null ? null : todo.join(", ");
}

/** A longer text is no URL of a photo. */
const longest = 4096;

/** The one URL of a text: between quotes or brackets, in a link or a tag, or before a remark. */
function urlAlone(text: string): string {
  const [photo] = /^https?:\/\/\S+?\.(?:jpe?g|png|webp)(?=\s)/i.exec(text) ?? [];
  if (photo !== undefined && !/\.(?:jpe?g|png|webp)/i.test(text.slice(photo.length))) return photo;
  if (scheme.test(text)) return text;
  let [start, end] = [0, text.length];
  while (start < end && around.test(text[start]!)) start++;
  while (start > 0 && end > start && around.test(text[end - 1]!)) end--;
  const inner = text.slice(start, end);
  if (start > 0 && !/https?:\/\//i.test(inner.slice(1))) return inner;
  return /https?:\/\/[^\s"'<>`|\\{}()[\]]+/i.exec(inner)?.[0] ?? text;
}
