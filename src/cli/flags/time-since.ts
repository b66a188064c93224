import { InvalidArgumentError } from "commander";
import { parseTime } from "../../text.ts";
import { duration, earliest } from "./values.ts";

/** Parses a duration before now, a date (its start in UTC) or a time with an offset, for a flag. */
export function timeSince(text: string): (now: number) => number {
  const date = text.trim();
  const time = parseTime(/^\d{4}-\d\d-\d\d$/.test(date) ? `${date}T00:00:00Z` : date);
  if (!Number.isNaN(time)) return () => Math.max(time, earliest);
  try {
    const ago = duration(date);
    return (now) => Math.max(now - ago, earliest);
  } catch {
    throw new InvalidArgumentError("use a duration such as 7d, or a date such as 2026-01-05");
  }
}
