import { type EventType, eventTypes } from "../../../contract/value-sets.ts";

/** Types of events: an exact type, a prefix with `*` at its end (`import.*`), or `*` for all. */
export type EventPattern = readonly string[];

/** Reads patterns separated by commas; null for an empty one, or one with `*` elsewhere than at its end. */
export function eventPattern(text: string): EventPattern | null {
  const patterns = text.split(",").map((one) => one.trim());
  return patterns.every((one) => /^[\w.-]*\*?$/.test(one) && one !== "") ? patterns : null;
}

/** Whether an event of this type is meant. */
export const matches = (patterns: EventPattern, type: string): boolean =>
  patterns.some((one) => (one.endsWith("*") ? type.startsWith(one.slice(0, -1)) : one === type));

/** Whether some event type fits both. */
export const overlap = (patterns: EventPattern, others: EventPattern): boolean =>
  eventTypes.some((type) => matches(patterns, type) && matches(others, type));

/** The event types that are meant. */
export const typesOf = (patterns: EventPattern): EventType[] =>
  eventTypes.filter((type) => matches(patterns, type));
