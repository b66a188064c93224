import { encodeTime } from "ulid";
import * as z from "zod";
import { lastMoment } from "../../clock.ts";
import { canonicalReference } from "../../contract/import-row.ts";
import { Reference, Ulid } from "../../contract/resources/fields.ts";

/** The last moment of a clock that has ticked on for a day beyond the last that it may be moved to: the end of the year 9999. */
export const lastNow = lastMoment + 86_400_000;

/** A moment of what is to come, in milliseconds since the epoch: as far as any that a date can have. */
export const comingMoment = z.number().min(0).max(8.64e15);

/** A time as it is kept, and so served: in UTC (Resources), whose years have four digits. */
export const KeptTimestamp = z.iso.datetime("must be a time in UTC such as 2026-01-05T09:00:00Z");

/** A product's reference as it is kept: trimmed already. */
export const KeptReference = z
  .string()
  .refine((text) => canonicalReference(text) === text, "must have no space around it")
  .pipe(Reference);

/** Where a thing stands in the order of creation. A cursor has room for 15 digits; what is made later has higher ones. */
export const order = z.int().min(0).max(1e14);

/** Ids are in the order of their times, as texts. */
const lastTime = encodeTime(2 ** 48 - 1e12);

/**
 * The id of a job: the ids of what it makes may follow from its time, each a millisecond after the one before, so there is to be
 * room for far more of them before the last time that an id can have.
 */
export const JobId = Ulid.refine((id) => id < lastTime, "is of a time that leaves no room");

/** Whether no two are the same. */
export const isUnlike = (things: readonly unknown[]): boolean => new Set(things).size === things.length;
