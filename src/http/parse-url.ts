/**
 * The text as a URL; null where it is none. Not by `URL.canParse`: on Node 20, once it is compiled, that is false for every
 * text with a letter such as `ü`.
 */
export function parseUrl(text: string, base?: string): URL | null {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}
