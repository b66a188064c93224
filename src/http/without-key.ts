import { maskedKey, shortestSecret } from "./mask.ts";
import type { Interceptor } from "./send.ts";

/**
 * Masks this key in a text, as is, in JSON and in URLs. Other texts that look like keys stay: a product may be named like
 * one.
 */
export type KeyMask = (text: string) => string;

/** The mask of a key. */
export function keyMask(key: string): KeyMask {
  if (key.length < shortestSecret) return (text) => text;
  const mask = maskedKey(key)!;
  const forms = [key, key.replaceAll("/", "\\/"), encodeURIComponent(key)];
  return (text) => forms.reduce((masked, form) => masked.replaceAll(form, () => mask), text);
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
      Array.isArray(value) ? value.map(mask) : value && mask(value),
    ]);
    const { buffer, byteOffset, byteLength } = answer.body;
    const text = Buffer.from(buffer, byteOffset, byteLength).toString();
    const masked = mask(text);
    const body = masked === text ? answer.body : Buffer.from(masked);
    return { ...answer, headers: Object.fromEntries(headers), body };
  };
}
