import { InvalidArgumentError } from "commander";
import { parseUrl } from "../../../../contract/url-policy.ts";
import type { Handler } from "../../../../flows/listen/forward.ts";
import { type EventPattern, eventPattern } from "../../../../flows/listen/forward.ts";
import { knownTypes } from "../../../flags/event-types.ts";
import { handlerUrl } from "../../../flags/handler-url.ts";

/**
 * Parses events for a flag: types separated by commas, where `import.*` stands for all events of imports. An event that
 * is not known is a typo: a listener that waits for it would wait for ever.
 */
export function events(text: string): EventPattern {
  const pattern = eventPattern(text);
  if (pattern !== null) {
    for (const one of pattern) knownTypes(one, "*");
    return pattern;
  }
  throw new InvalidArgumentError(
    "use events such as import.completed, import.* or task.failed,task.succeeded",
  );
}

/** Parses `--forward-to`: a handler of all events. */
export const forwardTo = (text: string, others: readonly Handler[] = []): Handler[] => [
  ...others,
  { url: handlerUrl(text).href, events: ["*"] },
];

/** Parses `--route 'EVENTS=URL'`: a handler of some events. */
export function route(text: string, others: readonly Handler[] = []): Handler[] {
  const equals = text.indexOf("=");
  if (equals < 1) {
    throw new InvalidArgumentError("use EVENTS=URL, for example 'import.*=http://127.0.0.1:3000/imports'");
  }
  return [...others, { url: handlerUrl(text.slice(equals + 1)).href, events: events(text.slice(0, equals)) }];
}

/** Parses `--public-url`. The service accepts only public https:// URLs, and says so itself. */
export function publicUrl(text: string): string {
  const url = parseUrl(text.trim());
  if (url !== null && /^https?:$/.test(url.protocol)) return url.href;
  throw new InvalidArgumentError("use the https:// URL of a tunnel to this machine");
}

/** Parses `--path`. */
export function urlPath(text: string): string {
  if (/^\/[\x21-\x22\x24-\x3e\x40-\x7e]*$/.test(text)) return text;
  throw new InvalidArgumentError("use a path that starts with /, without ? and #");
}
