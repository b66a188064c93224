// Links that people copy from services for files, photos and videos: they open a page where a photo is
// expected.

import { parseUrl } from "../../contract/url-policy.ts";

export type ShareLinkCode =
  | "drive_link"
  | "dropbox_link"
  | "onedrive_link"
  | "sharepoint_link"
  | "wetransfer_link"
  | "google_photos_link"
  | "youtube_link"
  | "page_link";

/** A service by its hosts, and which of its URLs are no page. */
interface Service {
  readonly code: ShareLinkCode;
  readonly hosts: RegExp;
  readonly isFile?: (url: URL) => boolean;
}

const has = (url: URL, name: string, ...values: readonly string[]): boolean =>
  values.includes(url.searchParams.get(name) ?? "");

const services: readonly Service[] = [
  {
    code: "drive_link",
    hosts: /^(?:drive|docs)\.google\.com$/,
    isFile: ({ pathname }) =>
      /\/(?:uc|thumbnail|download)$/.test(pathname) || /\/export\/(?:png|jpe?g)$/.test(pathname),
  },
  {
    code: "dropbox_link",
    hosts: /^(?:(?:www\.|m\.)?dropbox\.com|db\.tt)$/,
    isFile: (url) => !isDropboxFolder(url) && (has(url, "raw", "1") || has(url, "dl", "1")),
  },
  {
    code: "onedrive_link",
    hosts: /^(?:1drv\.ms|onedrive\.live\.com|photos\.onedrive\.com)$/,
    isFile: ({ pathname }) => /^\/download/i.test(pathname),
  },
  {
    code: "sharepoint_link",
    hosts: /\.sharepoint\.(?:com|cn|de|us)$/,
    isFile: (url) => has(url, "download", "1") || /\/download\.aspx$/i.test(url.pathname),
  },
  { code: "wetransfer_link", hosts: /^(?:we\.tl|(?:[a-z-]+\.)?wetransfer\.com)$/ },
  { code: "google_photos_link", hosts: /^photos\.(?:app\.goo\.gl|google\.com)$/ },
  {
    code: "google_photos_link",
    hosts: /^goo\.gl$/,
    isFile: ({ pathname }) => !pathname.startsWith("/photos/"),
  },
  { code: "youtube_link", hosts: /^(?:(?:www\.|m\.|music\.)?youtube\.com|youtu\.be)$/ },
  {
    code: "page_link",
    hosts: /(?:^|\.)box\.com$/,
    isFile: ({ pathname }) => pathname.includes("/shared/static/"),
  },
  { code: "page_link", hosts: /^(?:(?:www|share)\.icloud\.com|pin\.it|flic\.kr|ibb\.co|postimg\.cc)$/ },
  {
    code: "page_link",
    hosts: /^(?:www\.|m\.)?(?:facebook|instagram|pinterest|tiktok|twitter|x|vimeo|flickr|imgur|canva)\.com$/,
    isFile: ({ pathname }) => /\.(?:jpe?g|png|webp)$/i.test(pathname),
  },
];

export const isShareService = (host: string): boolean => services.some(({ hosts }) => hosts.test(host));

/** The note on a URL of such a service; null for one of a file. `host`: in lower case. */
export function shareLink(url: string, host: string): ShareLinkCode | null {
  const ofHost = services.filter(({ hosts }) => hosts.test(host));
  if (ofHost.length === 0) return null;
  const parsed = parseUrl(url);
  return parsed === null ? null : (ofHost.find(({ isFile }) => isFile?.(parsed) !== true)?.code ?? null);
}

/** The URL of the file behind a link of Drive or Dropbox; null if the link does not tell. */
export function directForm(link: string): string | null {
  const url = parseUrl(link);
  const code = url === null ? null : shareLink(link, url.hostname);
  if (url === null || code === null) return null;
  if (code === "drive_link") return directDrive(url);
  if (code !== "dropbox_link" || !/^\/(?:s|scl\/fi)\//.test(url.pathname)) return null;
  url.searchParams.delete("dl");
  url.searchParams.set("raw", "1");
  return url.href;
}

function directDrive(url: URL): string | null {
  const [, inPath] = /^\/(?:a\/[^/]+\/)?file\/(?:u\/\d+\/)?d\/([\w-]+)/.exec(url.pathname) ?? [];
  const id = inPath ?? (url.pathname.endsWith("/open") ? url.searchParams.get("id") : null);
  if (id === null || id === undefined) return null;
  // Links of before 2021 open with their key alone.
  const key = url.searchParams.get("resourcekey");
  return `https://drive.google.com/uc?export=download&id=${id}${key === null ? "" : `&resourcekey=${key}`}`;
}

const isDropboxFolder = ({ pathname }: URL): boolean => /^\/(?:sh|scl\/fo)\//.test(pathname);
