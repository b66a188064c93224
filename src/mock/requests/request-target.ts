/** The path of a URL, decoded as the router does; unchanged if it cannot be decoded. */
export const pathOf = (url: string): string => decodedPath(url) ?? url.split(/[?#]/, 1)[0]!;

/** The decoded path of a URL; null if it cannot be decoded. */
export function decodedPath(url: string): string | null {
  try {
    return decodeURI(url.split(/[?#]/, 1)[0]!);
  } catch {
    return null;
  }
}

/** Whether a URL belongs to the control routes. */
export const steersMock = (url: string): boolean =>
  // Nearly all requests go to /v1/ and skip the decoding.
  !url.startsWith("/v1/") && /^\/_mock(?:\/|$)/.test(pathOf(url));

/** Converts a request target to origin form, with the host of an absolute form (RFC 9112, 3.2). */
export function originForm(target: string): { url: string; host?: string } {
  const [, host, rest] = /^https?:\/\/([^/?#]*)(.*)$/is.exec(target) ?? [];
  if (host === undefined) return { url: target };
  return { url: rest!.startsWith("/") ? rest! : `/${rest}`, host };
}
