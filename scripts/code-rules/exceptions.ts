import type { Exceptions } from "./ratchet.ts";

/** What may break a rule for good, and why. What is only not fixed yet is in offenders.json. */
export const exceptions: readonly Exceptions[] = [];
