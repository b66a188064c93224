import type { Handler } from "../../../../flows/listen/forward.ts";
import { type EventPattern, overlap } from "../../../../flows/listen/forward.ts";
import { UsageError } from "../../../context/errors.ts";

export interface Patterns {
  readonly events?: EventPattern | undefined;
  readonly wait?: EventPattern | undefined;
  /** The handlers of `--route`. */
  readonly routes?: readonly Handler[];
}

/** Throws a UsageError for a wait that cannot end, or a route that no event can take. */
export function checkPatterns({ events, wait, routes = [] }: Patterns): void {
  if (events === undefined) return;
  const isExcluded = (pattern: EventPattern) => !overlap(pattern, events);
  if (wait !== undefined && isExcluded(wait))
    throw excluded("--wait", `--wait ${wait} never ends with --events ${events}`);
  const route = routes.find((one) => isExcluded(one.events));
  if (route !== undefined)
    throw excluded("--route", `--route ${route.events}=URL never gets an event with --events ${events}`);
}

const excluded = (param: string, message: string): UsageError =>
  new UsageError(message, {
    code: "conflicting_option",
    param,
    hint: "Add the event to --events, or remove --events.",
  });
