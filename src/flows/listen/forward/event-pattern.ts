import { eventTypes } from "../../../contract/value-sets.ts";

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

/** Whether some event type, known or not, fits both. */
export const overlap = (patterns: EventPattern, others: EventPattern): boolean =>
  patterns.some((one) => others.some((other) => matches([one], stem(other)) || matches([other], stem(one))));

const stem = (pattern: string): string => pattern.replace(/\*$/, "");

/** The patterns that fit no known type: typos, or types that the service has added since. */
export const unknownOf = (patterns: EventPattern): string[] =>
  patterns.filter((one) => !eventTypes.some((type) => matches([one], type)));

/** The types to subscribe to: patterns stand for the known types, and an exact one for itself. */
export const typesOf = (patterns: EventPattern): string[] => [
  ...new Set(
    patterns.flatMap((one) =>
      one.endsWith("*") ? eventTypes.filter((type) => matches([one], type)) : [one],
    ),
  ),
];
