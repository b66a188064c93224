/** The path of a URL as the router reads it. */
export const pathOf = (url: string): string => decodedPath(url) ?? url.split(/[?#]/, 1)[0]!;

/** The same, but null where it cannot be decoded. */
export function decodedPath(url: string): string | null {
  try {
    return decodeURI(url.split(/[?#]/, 1)[0]!);
  } catch {
    return null;
  }
}

/** Whether a URL is one of those that steer the mock. */
export const steersMock = (url: string): boolean =>
  // Nearly all are not, and need no closer look.
  !url.startsWith("/v1/") && /^\/_mock(?:\/|$)/.test(pathOf(url));

/** A request target as origin form and, where it was absolute form, the host it names (RFC 9112, 3.2). */
export function originForm(target: string): { url: string; host?: string } {
  const [, host, rest] = /^https?:\/\/([^/?#]*)(.*)$/is.exec(target) ?? [];
  if (host === undefined) return { url: target };
  return { url: rest!.startsWith("/") ? rest! : `/${rest}`, host };
}
