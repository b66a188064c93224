import { encodeTime } from "ulid";
import * as z from "zod";
import { lastMoment } from "../../clock.ts";
import { canonicalReference } from "../../contract/import-row.ts";
import { Reference, Ulid } from "../../contract/resources/fields.ts";

/**
 * The latest valid time: a day after the last time that the clock can be moved to, the end of the year 9999.
 */
export const lastNow = lastMoment + 86_400_000;

/** A future time in milliseconds since the epoch, up to the maximum of a Date. */
export const comingMoment = z.number().min(0).max(8.64e15);

/** A stored timestamp: UTC (Resources), with a four-digit year. */
export const KeptTimestamp = z.iso.datetime("must be a time in UTC such as 2026-01-05T09:00:00Z");

/** A stored reference, already trimmed. */
export const KeptReference = z
  .string()
  .refine((text) => canonicalReference(text) === text, "must not have surrounding whitespace")
  .pipe(Reference);

/**
 * A position in the order of creation. Cursors have room for 15 digits; later records get higher numbers.
 */
export const order = z.int().min(0).max(1e14);

/** IDs sort as text in the order of their times. */
const lastTime = encodeTime(2 ** 48 - 1e12);

/**
 * The ID of a job. IDs of its results can start from its time and advance by a millisecond each, so it must
 * be far below the maximum time of an ID.
 */
export const JobId = Ulid.refine((id) => id < lastTime, "has a time too close to the maximum of a ULID");

/** Whether all items are different. */
export const isUnlike = (things: readonly unknown[]): boolean => new Set(things).size === things.length;
