import { maskedKey, shortestSecret } from "./mask.ts";
import type { Interceptor } from "./send.ts";

/** Starts of escapes, in JSON and in URLs, that may hide a character of a key. */
const escapes = ["\\u00", "\\/", "%"];

/** Masks an API key in texts of the service. */
export interface KeyMask {
  text(text: string): string;
  /** The same in bytes of any encoding that contains ASCII; all others stay. */
  bytes(bytes: Uint8Array): Uint8Array;
}

/**
 * Masks this key, as is, in JSON and in URLs. Other texts that look like keys stay: a product may be named like one.
 */
export function keyMask(key: string): KeyMask {
  if (key.length < shortestSecret) return { text: (text) => text, bytes: (bytes) => bytes };
  // Most texts have none of these, which is found fast.
  const hints = [...new Set([key, encodeURIComponent(key)]), ...escapes];
  const anyForm = new RegExp([...key].map(formsOf).join(""), "g");
  const masked = (text: string, mask: string) => text.replace(anyForm, () => mask);
  const mask = maskedKey(key)!;
  const maskBytes = Buffer.from(mask).toString("latin1");
  return {
    text: (text) => (hints.some((hint) => text.includes(hint)) ? masked(text, mask) : text),
    bytes(bytes) {
      const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      if (!hints.some((hint) => buffer.includes(hint))) return bytes;
      return Buffer.from(masked(buffer.toString("latin1"), maskBytes), "latin1");
    },
  };
}

/** The forms of an ASCII character, as a pattern. */
function formsOf(character: string): string {
  const hex = character.charCodeAt(0).toString(16).padStart(2, "0");
  const anyCase = hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
  const plain = `\\x${hex}`;
  const escaped = /["/\\]/.test(character) ? `\\\\${plain}|` : "";
  return `(?:${escaped}${plain}|\\\\u00${anyCase}|%${anyCase})`;
}

/**
 * Masks the API key of the request in its response: the service, or a gateway, may repeat it. No later code sees it, so
 * none can print or store it.
 */
export function withoutKey(): Interceptor {
  // The key of a client does not change.
  let known: { readonly authorization: string; readonly mask: KeyMask } | null = null;
  return (next) => async (request) => {
    const answer = await next(request);
    const { authorization } = request.headers;
    if (authorization === undefined) return answer;
    if (known?.authorization !== authorization)
      known = { authorization, mask: keyMask(authorization.replace(/^Bearer /, "")) };
    const { mask } = known;
    const headers = Object.entries(answer.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(mask.text) : value && mask.text(value),
    ]);
    return { ...answer, headers: Object.fromEntries(headers), body: mask.bytes(answer.body) };
  };
}
