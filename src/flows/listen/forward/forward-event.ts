import { limits } from "../../../contract/limits.ts";
import type { Post, PostOutcome } from "../../../http/post.ts";
import type { ResultLine } from "../log/log-line.ts";
import { firstLine, longestLine } from "./first-line.ts";

/** A delivery as it arrived. */
export interface Delivery {
  /** Names and values in turn. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

/** A handler's response, without the event. */
export type HandlerResponse = Omit<ResultLine, "result_of" | "at">;

/**
 * Sends a delivery on: the raw body, and the headers unchanged except those of the connection. Resolves to the
 * handler's status and the first line of its response, or to why there was none after at most 10 s (Events, Retries
 * 1).
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
  if (outcome.status === null) return { url, status: null, error: outcome.why };
  const line = firstLine(outcome.text).trim().slice(0, longestLine);
  return { url, status: outcome.status, ...(line !== "" && { line }) };
}

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
    .flatMap(([, value]) => value.split(",").map((one) => one.trim().toLowerCase()));
  const dropped = new Set([...ofConnection, ...named]);
  return pairs.filter(([name]) => !dropped.has(name.toLowerCase()));
}
