// URLs that the service accepts, but that lead to no photo: its results would say so row by row, after the
// import.

import { shortened } from "../../contract/did-you-mean.ts";
import { urlBreach } from "../../contract/url-policy.ts";
import { startOf } from "../../text.ts";
import { counted } from "../words.ts";
import { directForm, isShareService, type ShareLinkCode, shareLink } from "./share-links.ts";

export type UrlNoteCode =
  | ShareLinkCode
  | "several_urls"
  | "url_without_path"
  | "url_placeholder"
  | "url_without_value"
  | "url_error_name"
  | "url_html_code"
  | "url_separator"
  | "url_of_document"
  | "url_of_other_image";

const urls = (one: string, several: string) => (count: number, value: string) =>
  `${counted(count, "URL")} ${count === 1 ? one : several} (${shortened(value)})`;

const links = (service: string) => (count: number, value: string) => {
  const direct = directForm(value);
  const first = count === 1 ? "it" : "the first";
  const example = direct === null ? `(${shortened(value)})` : `(the direct form of ${first} is ${direct})`;
  return `${counted(count, "link")} to ${service} ${count === 1 ? "opens" : "open"} a page, not a photo ${example}`;
};

const useFiles = "Download the photos and use their paths, or use URLs of the photos themselves.";

export const urlNoteKinds: Readonly<
  Record<UrlNoteCode, { message(count: number, value: string): string; hint: string }>
> = {
  drive_link: {
    message: links("Google Drive"),
    hint: "Share each file with anyone who has its link, and write https://drive.google.com/uc?export=download&id=ID.",
  },
  dropbox_link: {
    message: links("Dropbox"),
    hint: "For a file, write raw=1 or dl=1 instead of dl=0; a folder has no such form.",
  },
  onedrive_link: { message: links("OneDrive"), hint: useFiles },
  sharepoint_link: { message: links("SharePoint"), hint: useFiles },
  wetransfer_link: { message: links("WeTransfer"), hint: useFiles },
  google_photos_link: { message: links("Google Photos"), hint: useFiles },
  youtube_link: { message: links("YouTube"), hint: useFiles },
  page_link: {
    message: urls("leads to a page of a website, not to a photo", "lead to pages of websites, not to photos"),
    hint: useFiles,
  },
  several_urls: {
    message: urls("has another URL in it", "have other URLs in them"),
    hint: 'Put | between them in the column "images", or use one column or object per photo.',
  },
  url_without_path: {
    message: urls("names a host alone, not a photo", "name a host alone, not a photo"),
    hint: "Write the complete URL of the photo.",
  },
  url_placeholder: {
    message: urls("has a placeholder that was not filled in", "have a placeholder that was not filled in"),
    hint: "Fill it in where the file comes from.",
  },
  url_without_value: {
    message: urls(
      'has "undefined" or "null" instead of a value',
      'have "undefined" or "null" instead of a value',
    ),
    hint: "Leave the cell empty, or correct it where the file comes from.",
  },
  url_error_name: {
    message: urls("has an error of a spreadsheet in it", "have an error of a spreadsheet in them"),
    hint: "Correct the formula, and save the file again.",
  },
  url_html_code: {
    message: urls("has an HTML code such as &amp;", "have an HTML code such as &amp;"),
    hint: "Write the character itself, such as &.",
  },
  url_separator: {
    message: urls("ends with a separator", "end with a separator"),
    hint: "Remove what follows the URL.",
  },
  url_of_document: {
    message: urls("leads to a document or a video", "lead to documents or videos"),
    hint: "Use the URL of a photo.",
  },
  url_of_other_image: {
    message: urls("leads to an image of another type", "lead to images of other types"),
    hint: "The service takes JPEG, PNG and WebP: save them as JPEG.",
  },
};

/** Nearly all URLs: an ordinary path to an image, with a plain query at most. */
const ordinary = /^https:\/\/[^/]+\/[\w.~!$()*+:@,=%/-]*\.(?:jpe?g|png|webp)(?:\?[\w.~=&%,:+/-]*[\w=%/-])?$/i;
/** The same after a slash, without such words. */
const ordinaryName =
  /(?!.*(?:undefined|null|nan|none|\.(?:jpe?g|png|webp),))[\w.~!$()*+,=-]*\.(?:jpe?g|png|webp)(?:\?v=\d+)?$/iy;
const doubtful = /undefined|null|nan|none|\.(?:jpe?g|png|webp),|%(?:7b|23|5b|ef%bf%bd|(?![\da-f]{2}))/i;

const parts = /^https:\/\/([^/?#]*)([^?#]*)/i;
const ending = /\.(\w{2,5})$/;

/** Other separators than these are part of a URL until its path has ended. */
const separators = /[,;.|]$/;
const afterPhoto = /\.(?:jpe?g|png|webp)[^\w/?#%]+$/i;
/** Braces around a GUID are part of a name. */
const placeholder =
  /\{(?![\da-f]{8}-[\da-f-]{27}\})[^{}/]*\}|%7b[^%{}/]+%7d|<[^<>/]+>|\[[a-z_]{2,30}\]|%%\w+%%|%(?![\da-f]{2})[a-z_]+%/i;
/** A complete part or value, or the end of a name; a name may begin with such a word. */
const withoutValue =
  /(?:[/=]null|[/=_-]undefined)(?=\.\w{2,5}(?:[?#]|$)|[/?#&]|$)|(?:\[|%5b)object(?: |\+|%20)/i;
/** Of Python and JavaScript; in other letters these are words and names of folders. */
const emptyWord = /\/(?:NaN|None)(?=\.\w+$|[/?#]|$)|\/nan(?=\.\w+$|$)/;
/** In any language: capitals and the end of an error's name, or a character that was lost. */
const errorName =
  /(?:#|%23)(?:N(?:\/|%2F)[AD]|NV(?![\w-])|[¡\p{Lu}/0]+[!?])|#{4}|\ufffd|%(?:EF%BF%BD|ef%bf%bd)/u;
const htmlCode = /&(?:amp|quot|apos|lt|gt|nbsp|#\d+|#x[\da-f]+);/i;
const otherImages = new Set(
  "heic heif tif tiff gif avif bmp svg psd psb ai eps dng cr2 cr3 nef arw raf jp2 jxl ico".split(" "),
);
const documents = new Set(
  "pdf doc docx odt xls xlsx ods csv txt ppt pptx indd zip rar 7z html htm mp4 m4v mov avi mkv webm mp3".split(
    " ",
  ),
);
/** The parameter of an image service that makes another type of the original. */
const converted = /[/,?&](?:f_\w|fm=|format[=:,]|output=|auto=)/i;

/** A longer text is no URL of a photo. */
const longest = 4096;

/** URLs, except those that are part of another one: services have them in their paths and queries. */
const outerUrls =
  /(?<=\.(?:jpe?g|png|webp|avif|gif)(?:\?[^\s/]*)?\/\/|(?<![/=?]|\w\(|%(?:2f|3d|3f|28)))https?:\/\//gi;

export const countUrls = (text: string): number => text.match(outerUrls)?.length ?? 0;

/** Whether a text has several URLs between which no URL goes on. */
export const hasSeparateUrls = (text: string): boolean =>
  /(?:[\s,;]|\\[nrt]?)https?:\/\//i.test(text) && countUrls(text) > 1;

/**
 * Between two photos: after a comma, the next one is a URL, with or without its scheme, or a name alone, as
 * parameters of an image service follow the name of a photo too.
 */
const betweenPhotos =
  /(?<=\.(?:jpe?g|png|webp)(?:\?[^\s,;]{0,200})?)(?:\s*[,;]?\s+|[,;](?=(?:https?:)?\/\/|(?:[a-z\d-]+\.)+[a-z]{2,}\/|[^\s/,;]+(?:[\s,;]|$)))(?=[^\s,;]*\.(?:jpe?g|png|webp)(?:[\s,;?#]|$))/gi;

/** How many photos a text names that separators join: 1 also for any other text. */
export function countPhotos(text: string): number {
  const [first, ...more] = text.length > longest ? [] : text.matchAll(betweenPhotos);
  // A name may be before its URL.
  return first !== undefined && text.slice(0, first.index).includes("/") ? more.length + 2 : 1;
}

/** The same as `startsWith`, in half of its time. */
const beginsWith = (text: string, start: string): boolean => text.slice(0, start.length) === start;

export class UrlNotes {
  /** The start of the last URL whose host is of no service with links to pages. */
  #start = "\0";
  /** The folder of the last ordinary URL: most URLs of a file follow one of the same folder. */
  #folder = "\0";

  /** Whether an ordinary URL has the host of the one before: there is nothing to say of it. */
  isPlain(url: string): boolean {
    if (beginsWith(url, this.#folder)) {
      ordinaryName.lastIndex = this.#folder.length;
      if (ordinaryName.test(url)) return true;
    }
    const isPlain =
      beginsWith(url, this.#start) &&
      ordinary.test(url) &&
      url.indexOf("://", "https://".length) === -1 &&
      !doubtful.test(url);
    if (isPlain && !url.includes("?")) this.#folder = url.slice(0, url.lastIndexOf("/") + 1);
    return isPlain;
  }

  /** The note on a URL, if the service accepts it and it leads to no photo. */
  of(url: string): UrlNoteCode | null {
    if (this.isPlain(url)) return null;
    const hasOther = url.indexOf("://", "https://".length) !== -1;
    const [start, authority, path] = parts.exec(url) ?? [];
    // The file check rejects URLs that break the policy or that a separator divides.
    if (start === undefined || urlBreach(url) !== null || hasSeparateUrls(url)) return null;
    if (hasOther && countUrls(startOf(url, longest)) > 1) return "several_urls";
    if (url.length > longest) return null;
    if (countPhotos(start) > 1 && !converted.test(start)) return "several_urls";
    const host = authority!.toLowerCase();
    if (isShareService(host)) return shareLink(url, host);
    this.#start = `https://${authority}/`;
    return noteOnRest(url.slice("https://".length + host.length), path!);
  }
}

function noteOnRest(rest: string, path: string): UrlNoteCode | null {
  if (errorName.test(rest)) return "url_error_name";
  if (placeholder.test(rest)) return "url_placeholder";
  if (withoutValue.test(rest) || emptyWord.test(rest)) return "url_without_value";
  if (htmlCode.test(rest)) return "url_html_code";
  if (separators.test(rest) || afterPhoto.test(rest)) return "url_separator";
  if ((path === "" || path === "/") && !rest.includes("?")) return "url_without_path";
  const type = ending.exec(path)?.[1]?.toLowerCase() ?? "";
  if (converted.test(rest)) return null;
  if (documents.has(type)) return "url_of_document";
  return otherImages.has(type) ? "url_of_other_image" : null;
}
