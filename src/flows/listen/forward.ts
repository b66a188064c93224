import { limits } from "../../contract/limits.ts";
import { type EventType, eventTypes } from "../../contract/value-sets.ts";
import type { Post, PostOutcome } from "../../http/post.ts";
import type { ResultLine } from "./log-lines.ts";

/** Types of events: an exact type, a prefix with `*` at its end (`import.*`), or `*` for all. */
export type EventPattern = readonly string[];

/** Reads patterns separated by commas; null for an empty one, or one with `*` elsewhere than at its end. */
export function eventPattern(text: string): EventPattern | null {
  const patterns = text.split(",").map((pattern) => pattern.trim());
  return patterns.every((pattern) => /^[\w.-]*\*?$/.test(pattern) && pattern !== "") ? patterns : null;
}

export const matches = (patterns: EventPattern, type: string): boolean =>
  patterns.some((pattern) =>
    pattern.endsWith("*") ? type.startsWith(pattern.slice(0, -1)) : pattern === type,
  );

/** Whether some event type fits both. */
export const overlap = (patterns: EventPattern, others: EventPattern): boolean =>
  eventTypes.some((type) => matches(patterns, type) && matches(others, type));

export const matchingTypes = (patterns: EventPattern): EventType[] =>
  eventTypes.filter((type) => matches(patterns, type));

/** The longest part of a response that is kept and shown, in characters. */
export const longestLine = 200;

/** The first line of a response that has text. */
export const firstLine = (text: string): string => text.trimStart().split(/\r?\n/, 1)[0]!;

/** A delivery as it arrived. */
export interface Delivery {
  /** Names and values in turn. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

export type HandlerResponse = Omit<ResultLine, "result_of" | "at">;

/**
 * Sends a delivery on: the raw body, and the headers unchanged except those of the connection. Resolves to
 * the handler's status and the first line of its response, or to why there was none after at most 10 s
 * (Events, Retries 1).
 */
export async function forwardEvent(
  url: string,
  { rawHeaders, body }: Delivery,
  send: (post: Post) => Promise<PostOutcome>,
): Promise<HandlerResponse> {
  const outcome = await send({
    url: new URL(url),
    headers: passedOn(rawHeaders),
    body,
    timeoutMs: limits.webhookTimeoutMs,
  });
  if (outcome.status === null) return { url, status: null, error: withHint(outcome) };
  const line = firstLine(outcome.text).trim().slice(0, longestLine);
  return { url, status: outcome.status, ...(line !== "" && { line }) };
}

/** Why there was no response, with the next step where the listener shows nothing else. */
const withHint = ({ why, hint }: { readonly why: string; readonly hint?: string }): string =>
  hint === undefined ? why : `${why}. ${hint}`;

/** Headers of one connection (RFC 9110, 7.6.1), and those that differ for the handler. */
const ofConnection = new Set([
  ..."connection keep-alive proxy-connection proxy-authenticate proxy-authorization te trailer".split(" "),
  ..."transfer-encoding upgrade expect host content-length".split(" "),
]);

function passedOn(rawHeaders: readonly string[]): (readonly [name: string, value: string])[] {
  const pairs = rawHeaders.flatMap((name, at) =>
    at % 2 === 0 ? [[name, rawHeaders[at + 1]!] as const] : [],
  );
  const named = pairs
    .filter(([name]) => name.toLowerCase() === "connection")
    .flatMap(([, value]) => value.split(",").map((token) => token.trim().toLowerCase()));
  const dropped = new Set([...ofConnection, ...named]);
  return pairs.filter(([name]) => !dropped.has(name.toLowerCase()));
}

/** A URL that events are forwarded to: of `--forward-to` (all events) or `--route`. */
export interface Handler {
  readonly url: string;
  readonly events: EventPattern;
}

/** The URLs of the handlers of an event, each once, in the order of the flags. */
export const urlsFor = (handlers: readonly Handler[], type: string): string[] => [
  ...new Set(handlers.filter(({ events }) => matches(events, type)).map(({ url }) => url)),
];
