import { limits } from "../contract/limits.ts";

/** The last moment that RFC 3339 can write. */
const endOfTime = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** How far the clock may be moved: what begins then and lives for an hour or a day still ends at a time that can be written. */
export const lastMoment = endOfTime - limits.idempotencyKeyMs;
