import { limits } from "../../../contract/limits.ts";

/** How long a key is used, in milliseconds: the service forgets it after 24 hours (Cross-cutting rule 1); one is left for clocks that are wrong. */
export const keyLifeMs = limits.idempotencyKeyMs - 3_600_000;

/** Whether what was sent then may be sent again under its key. */
export const isKeyAlive = (sentAt: number, now: number): boolean => now - sentAt < keyLifeMs;
