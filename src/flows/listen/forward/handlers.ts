import { type EventPattern, matches } from "./event-pattern.ts";

/** A URL that events are forwarded to: of `--forward-to` (all events) or `--route`. */
export interface Handler {
  readonly url: string;
  readonly events: EventPattern;
}

/** The URLs of the handlers of an event, each once, in the order of the flags. */
export const urlsFor = (handlers: readonly Handler[], type: string): string[] => [
  ...new Set(handlers.filter(({ events }) => matches(events, type)).map(({ url }) => url)),
];
