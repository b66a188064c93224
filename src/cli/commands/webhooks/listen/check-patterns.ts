import { didYouMean, questionFor } from "../../../../contract/did-you-mean.ts";
import { eventTypes } from "../../../../contract/value-sets.ts";
import { type EventPattern, overlap, unknownOf } from "../../../../flows/listen/forward/event-pattern.ts";
import type { Handler } from "../../../../flows/listen/forward/handlers.ts";
import { UsageError } from "../../../context/errors.ts";

export interface Patterns {
  readonly events: EventPattern | null;
  readonly handlers: readonly Handler[];
  readonly wait: EventPattern | undefined;
}

/**
 * Sentences about event types that are not known, which may be typos: the set may grow, so they are accepted. Throws a
 * UsageError for a wait that cannot end.
 */
export function checkPatterns({ events, handlers, wait }: Patterns): string[] {
  if (wait !== undefined && events !== null && !overlap(wait, events)) {
    throw new UsageError(`--wait ${wait} never ends with --events ${events}`, {
      code: "conflicting_option",
      param: "--wait",
      hint: "Add the event to --events, or remove --events.",
    });
  }
  const unknown = unknownOf([...(wait ?? []), ...(events ?? []), ...handlers.flatMap((one) => one.events)]);
  return [...new Set(unknown)].map((one) => {
    const near = questionFor(didYouMean(one, eventTypes), "; ");
    return `no known event matches ${JSON.stringify(one)}${near || `; known events: ${eventTypes.join(", ")}`}`;
  });
}
