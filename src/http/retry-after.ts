import { type Answer, headerOf } from "./send.ts";

/**
 * The wait that `Retry-After` asks for, in milliseconds from now; null if it is missing or unreadable. A date
 * is compared with the response's `Date`, because the local clock may be wrong; `now` is used without one.
 */
export function retryAfterMs(answer: Pick<Answer, "headers">, now: number): number | null {
  const text = headerOf(answer, "retry-after")?.trim() ?? "";
  if (/^\d{1,9}(\.\d+)?$/.test(text)) return Number(text) * 1000;
  const until = dateMs(text);
  return until === null ? null : Math.max(0, until - (serverNow(answer) ?? now));
}

/** The server's time, in milliseconds since the epoch, to the second; null without a `Date`. */
export const serverNow = (answer: Pick<Answer, "headers">): number | null =>
  dateMs(headerOf(answer, "date") ?? "");

/** Parses an HTTP date such as `Mon, 05 Jan 2026 09:00:00 GMT`, and no other format that Date.parse accepts. */
function dateMs(text: string): number | null {
  if (!/^[A-Z][a-z]+,? .*\d\d:\d\d:\d\d/.test(text)) return null;
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : time;
}
