import { InvalidArgumentError } from "commander";
import { didYouMean, questionFor } from "../../contract/did-you-mean.ts";
import { type EventType, eventTypes } from "../../contract/value-sets.ts";
import { typesOf } from "../../flows/listen/forward.ts";

/**
 * Parses event types separated by commas, for the service, which knows no patterns: `import.*` is each event of imports,
 * `all` is every type.
 */
export function eventTypeList(text: string): EventType[] {
  if (text.trim() === "all") return [...eventTypes];
  const names = text.split(",").map((name) => name.trim());
  return [...new Set(names.flatMap((name) => knownTypes(name, "all")))];
}

/** The event types that one type or pattern means. Throws an InvalidArgumentError with the nearest if there are none. */
export function knownTypes(name: string, everything: string): EventType[] {
  const known = typesOf([name]);
  if (known.length > 0) return known;
  const near = questionFor(didYouMean(name, eventTypes), "; ");
  throw new InvalidArgumentError(
    `unknown event ${JSON.stringify(name)}${near || `; use ${everything}, a pattern such as import.*, or ${eventTypes.join(", ")}`}`,
  );
}

/** For help texts. */
export const eventTypesText = eventTypes.join(", ");
