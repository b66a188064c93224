import { type Answer, headerOf } from "./send.ts";

/**
 * What `Retry-After` asks for, in milliseconds from now, or null when it is absent or unreadable. A date is compared with
 * the answer's own `Date`, as this machine's clock may be wrong; `now` stands in when there is none.
 */
export function retryAfterMs(answer: Pick<Answer, "headers">, now: number): number | null {
  const text = headerOf(answer, "retry-after")?.trim() ?? "";
  if (/^\d{1,9}(\.\d+)?$/.test(text)) return Number(text) * 1000;
  const until = dateMs(text);
  return until === null ? null : Math.max(0, until - (serverNow(answer) ?? now));
}

/** The server's own idea of now, in milliseconds since the epoch and to the second, or null. */
export const serverNow = (answer: Pick<Answer, "headers">): number | null =>
  dateMs(headerOf(answer, "date") ?? "");

/** An HTTP date such as `Mon, 05 Jan 2026 09:00:00 GMT`; what else Date.parse would take is not one. */
function dateMs(text: string): number | null {
  if (!/^[A-Z][a-z]+,? .*\d\d:\d\d:\d\d/.test(text)) return null;
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : time;
}
