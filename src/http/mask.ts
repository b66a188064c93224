import type { Interceptor } from "./send.ts";

/** Query parameters that hold credentials. */
const secretParameter = /sign|sig$|token|secret|key|password|credential|auth/i;

/** A path with the secrets of its query masked: `/file?expires=1&signature=…`. */
export function maskedPath(path: string): string {
  const [before, query] = splitOnce(path, "?");
  if (query === undefined) return before;
  const parameters = query.split("&").map((parameter) => {
    const [name, value] = splitOnce(parameter, "=");
    return value !== undefined && secretParameter.test(name) ? `${name}=…` : parameter;
  });
  return `${before}?${parameters.join("&")}`;
}

/** A text with the signatures of its URLs masked, e.g. an error of a storage server. */
export const maskedSignatures = (text: string): string =>
  text.replace(/([?&][\w.-]*sig(?:nature)?=)[^\s\\&"'<>)]+/gi, "$1…");

/** A text without anything like an API key, which may have been pasted into the wrong place. */
export const maskedKeys = (text: string): string =>
  text.replace(/(?<![a-z_-])ak_\w{8,}/gi, (key) => maskedKey(key)!);

/** A text for others, such as a monitoring service, without keys and signatures of URLs. */
export const maskedCredentials = (text: string): string => maskedKeys(maskedSignatures(text));

/** Masks user names and passwords of URLs, too much rather than too little: they have any character. */
export const maskedUserinfo = (text: string): string => text.replace(/[^\s"\\]+/g, withoutUserinfo);

function withoutUserinfo(word: string): string {
  const [start, end] = [word.indexOf("//"), word.lastIndexOf("@")];
  const isUrl = start !== -1 && end > start + 2;
  const masked = isUrl ? `${word.slice(0, start)}//…${word.slice(end)}` : word;
  // `NAME:PASSWORD@HOST` without a scheme, also after `=`: its first `@` ends it.
  const pieces = masked.split("@");
  const hidden = (piece: string) => piece.replace(/(^|=)[^=:/]+:(?!\/\/).*/s, "$1…");
  return [...pieces.slice(0, -1).map(hidden), pieces.at(-1)].join("@");
}

/** A bearer header as `ak_…` plus the last four characters of a key that is long enough. */
export function maskedKey(authorization: string | undefined): string | null {
  if (authorization === undefined) return null;
  const key = authorization.replace(/^Bearer /, "");
  return `${/^[a-z]+_/i.exec(key)?.[0] ?? ""}…${key.length >= 20 ? key.slice(-4) : ""}`;
}

export const shortKey = (key: string | undefined): string | null =>
  key === undefined ? null : key.length > 8 ? `${key.slice(0, 8)}…` : key;

function splitOnce(text: string, at: string): [string, string | undefined] {
  const index = text.indexOf(at);
  return index < 0 ? [text, undefined] : [text.slice(0, index), text.slice(index + 1)];
}

/** A shorter text could occur in words that are not secret. */
export const shortestSecret = 8;

/** Masks this key in text, JSON and URLs. Other such texts stay: a product may be named like a key. */
export type KeyMask = (text: string) => string;

export function keyMask(key: string): KeyMask {
  if (key.length < shortestSecret) return (text) => text;
  const mask = maskedKey(key)!;
  const encoded = new RegExp([...key].map(characterForms).join(""), "g");
  return (text) => {
    // Nearly no text has the key or an encoded character, which is found out fastest this way.
    const masked = text.includes(key) ? text.replaceAll(key, () => mask) : text;
    const mayBeEncoded = (masked.includes("\\") || masked.includes("%")) && /\\[u/]|%/.test(masked);
    return mayBeEncoded ? masked.replace(encoded, () => mask) : masked;
  };
}

/** A pattern for the forms of a character: as is, as JSON may escape it, and in a URL. */
function characterForms(character: string): string {
  const hex = character.charCodeAt(0).toString(16).padStart(2, "0");
  const anyCase = hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
  const escaped = `\\\\u00${anyCase}${character === "/" ? "|\\\\/" : ""}`;
  // After another backslash it would be an escaped backslash.
  return `(?:\\x${hex}|(?<!\\\\)(?:${escaped})|%${anyCase})`;
}

/**
 * Masks the API key of the request in its response: the service, or a gateway, may repeat it. No later code
 * sees it, so none can print or store it.
 */
export function withoutKey(): Interceptor {
  // The key of a client does not change.
  let known: { readonly authorization: string; readonly key: string; readonly mask: KeyMask } | null = null;
  return (next) => async (request) => {
    const answer = await next(request);
    const { authorization } = request.headers;
    if (authorization === undefined) return answer;
    if (known?.authorization !== authorization) {
      const key = authorization.replace(/^Bearer /, "");
      known = { authorization, key, mask: keyMask(key) };
    }
    const { key, mask } = known;
    const entries = Object.entries(answer.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(mask) : value && mask(value),
    ]);
    const headers = Object.fromEntries(entries);
    const { buffer, byteOffset, byteLength } = answer.body;
    const bytes = Buffer.from(buffer, byteOffset, byteLength);
    // Nearly no body has the key or an encoded character, and most need no decoding for that.
    if (![key, "\\", "%"].some((part) => bytes.includes(part))) return { ...answer, headers };
    // All forms of the key are ASCII, so its mask changes the fastest decoding too.
    const latin1 = bytes.toString("latin1");
    const body = mask(latin1) === latin1 ? answer.body : Buffer.from(mask(bytes.toString()));
    return { ...answer, headers, body };
  };
}
