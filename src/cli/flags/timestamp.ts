import { InvalidArgumentError } from "commander";

const form = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;

/** Parses an RFC 3339 time with its offset into Unix milliseconds, for a flag. */
export function timestamp(text: string): number {
  const [, local, fraction = "", offset] = form.exec(text.trim().toUpperCase()) ?? [];
  const time = Date.parse(`${local}${fraction}${offset}`);
  // Date.parse takes February 30 for March 2.
  if (Number.isNaN(time) || new Date(Date.parse(`${local}Z`)).toISOString().slice(0, 19) !== local) {
    throw new InvalidArgumentError("use a time with an offset, for example 2026-01-05T09:00:00Z");
  }
  return Math.max(time, earliest);
}

/** An earlier time has no form of four digits for the year in UTC. */
const earliest = Date.parse("0000-01-01T00:00:00Z");
