/**
 * The text as a URL; null if it is not one. `URL.canParse` cannot be used: once compiled, Node 20 returns
 * false for every text with a letter such as `ü`.
 */
export function parseUrl(text: string, base?: string): URL | null {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}
