import { type EventPattern, overlap } from "../../../../flows/listen/forward/event-pattern.ts";
import { UsageError } from "../../../context/errors.ts";

/** Throws a UsageError for a wait that cannot end. */
export function checkPatterns({
  events,
  wait,
}: {
  events: EventPattern | undefined;
  wait: EventPattern | undefined;
}): void {
  if (wait === undefined || events === undefined || overlap(wait, events)) return;
  throw new UsageError(`--wait ${wait} never ends with --events ${events}`, {
    code: "conflicting_option",
    param: "--wait",
    hint: "Add the event to --events, or remove --events.",
  });
}
