import { parse } from "node:querystring";

/** The decoded parts of a path between slashes; null if it cannot be decoded. */
export function toParts(url: string): string[] | null {
  const parts = toPath(url).split("/");
  try {
    return url.includes("%") ? parts.map(decodeURIComponent) : parts;
  } catch {
    return null;
  }
}

/** The path without its query. */
export function toPath(url: string): string {
  const end = url.search(/[?#]/);
  return end < 0 ? url : url.slice(0, end);
}

/** Without a prototype, like every parsed query. */
const noQuery = Object.create(null) as Record<string, never>;

/** The decoded query parameters; a list for a repeated one. */
export function toQuery(url: string): Readonly<Record<string, string | string[] | undefined>> {
  const question = url.indexOf("?");
  return question < 0 ? noQuery : parse(url.slice(question + 1), "&", "=", { maxKeys: 0 });
}
