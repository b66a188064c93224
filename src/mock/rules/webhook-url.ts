import { isLoopbackHost, parseUrl, type UrlBreach, urlBreach } from "../../contract/url-policy.ts";

/**
 * The first clause of the URL policy that a webhook URL breaks, or null (Webhooks, POST). Unless the mock is
 * strict, loopback URLs are allowed, also with http and on any port: offline, no other URL can be reached
 * (interface, serve --mock).
 */
export function webhookUrlBreach(text: string, isStrict: boolean): UrlBreach | null {
  const breach = urlBreach(text);
  if (breach === null || isStrict || !isLoopbackUrl(text)) return breach;
  return /^https?:\/\/[^/?#]*@/i.test(text) ? "credentials" : null;
}

/** Whether a URL is an http or https URL of this machine. */
export function isLoopbackUrl(text: string): boolean {
  if (!/^https?:\/\/[^/?#\\]/i.test(text) || /[\u0000-\u0020\u007f-\u009f\\]/.test(text)) return false;
  const url = parseUrl(text);
  return url !== null && isLoopbackHost(url.hostname);
}
