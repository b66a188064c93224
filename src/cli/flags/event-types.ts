import { InvalidArgumentError } from "commander";
import { didYouMean, questionFor } from "../../contract/did-you-mean.ts";
import { type EventType, eventTypes } from "../../contract/value-sets.ts";
import { matches } from "../../flows/listen/forward/event-pattern.ts";

/**
 * Parses event types separated by commas, for the service, which knows no patterns: `import.*` is each event of imports,
 * `all` is every type.
 */
export function eventTypeList(text: string): EventType[] {
  if (text.trim() === "all") return [...eventTypes];
  const names = text.split(",").map((name) => name.trim());
  const types = names.flatMap((name) => {
    const known = eventTypes.filter((type) => matches([name], type));
    if (known.length > 0) return known;
    const near = questionFor(didYouMean(name, eventTypes), "; ");
    throw new InvalidArgumentError(
      `unknown event ${JSON.stringify(name)}${near || `; use all, a pattern such as import.*, or ${eventTypes.join(", ")}`}`,
    );
  });
  return [...new Set(types)];
}

/** For help texts. */
export const eventTypesText = eventTypes.join(", ");
