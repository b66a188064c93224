import { InvalidArgumentError } from "commander";
import { didYouMean, questionFor } from "../../../contract/did-you-mean.ts";
import { type EventType, eventTypes } from "../../../contract/value-sets.ts";
import { type EventPattern, eventPattern, matchingTypes } from "../../../flows/listen/forward.ts";
import { parseUrl } from "../../../http/send.ts";

/** Parses types with commas for the service, which has no patterns: `import.*`, `all`. May be repeated. */
export function eventTypeList(text: string, earlier: readonly EventType[] = []): EventType[] {
  if (text.trim() === "all") return [...eventTypes];
  return [...new Set([...earlier, ...text.split(",").flatMap((name) => knownTypes(name.trim(), "all"))])];
}

/**
 * Parses events for a flag: types separated by commas, where `import.*` stands for all events of imports. An
 * event that is not known is a typo: a listener that waits for it would wait for ever. The flag may be
 * repeated.
 */
export function eventPatterns(text: string, earlier: EventPattern = []): EventPattern {
  const patterns = eventPattern(text);
  if (patterns === null) {
    throw new InvalidArgumentError(
      "use events such as import.completed, import.* or task.failed,task.succeeded",
    );
  }
  for (const pattern of patterns) knownTypes(pattern, "*");
  return [...earlier, ...patterns];
}

/** The event types of a type or pattern. Throws an InvalidArgumentError with the nearest without any. */
function knownTypes(name: string, everything: string): EventType[] {
  const known = matchingTypes([name]);
  if (known.length > 0) return known;
  const near = questionFor(didYouMean(name, eventTypes), "; ");
  throw new InvalidArgumentError(
    `unknown event ${JSON.stringify(name)}${near || `; use ${everything}, a pattern such as import.*, or ${eventTypes.join(", ")}`}`,
  );
}

/** Parses the URL of a webhook handler: http or https, on any host. */
export function handlerUrl(text: string): URL {
  const url = parseUrl(text.trim());
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new InvalidArgumentError("use a URL such as http://127.0.0.1:3000/events");
  }
  // They would not be sent, but stored in the event log.
  if (url.username !== "" || url.password !== "") {
    throw new InvalidArgumentError("remove the user name and password from the URL");
  }
  return url;
}
