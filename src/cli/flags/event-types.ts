import { InvalidArgumentError } from "commander";
import { didYouMean, questionFor } from "../../contract/did-you-mean.ts";
import { type EventType, eventTypes } from "../../contract/value-sets.ts";

/** Parses event types separated by commas; `all` is every type. */
export function eventTypeList(text: string): EventType[] {
  if (text.trim() === "all") return [...eventTypes];
  const names = text.split(",").map((name) => name.trim());
  for (const name of names) {
    if (eventTypes.some((known) => known === name)) continue;
    const near = questionFor(didYouMean(name, eventTypes), "; ");
    throw new InvalidArgumentError(
      `unknown event ${JSON.stringify(name)}${near || `; use all or ${eventTypes.join(", ")}`}`,
    );
  }
  return [...new Set(names)] as EventType[];
}

/** For help texts. */
export const eventTypesText = eventTypes.join(", ");
