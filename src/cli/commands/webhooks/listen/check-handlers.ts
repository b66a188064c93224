import { isLoopbackHost } from "../../../../contract/url-policy.ts";
import type { Handler } from "../../../../flows/listen/forward.ts";
import { UsageError } from "../../../context/errors.ts";

export interface ListenPlace {
  readonly host: string;
  /** 0 for a free port. */
  readonly port: number;
  readonly publicUrl: string | undefined;
  /** Then nothing listens. */
  readonly poll: boolean;
}

/** Throws a UsageError if a handler is the listener itself: an event would be sent to it again and again. */
export function checkHandlers(
  handlers: readonly Handler[],
  { host, port, publicUrl, poll }: ListenPlace,
): void {
  if (poll) return;
  const outside = publicUrl === undefined ? null : new URL(publicUrl).host;
  const own = handlers.find(({ url }) => {
    const { host: place, hostname, port: given, protocol } = new URL(url);
    const usual = protocol === "https:" ? 443 : 80;
    return place === outside || ((Number(given) || usual) === port && isOwnHost(hostname, host));
  });
  if (own === undefined) return;
  throw new UsageError(`cannot forward events to ${own.url}: it is this listener`, {
    code: "forwards_to_itself",
    hint: "Use the URL of your handler, or another --port.",
  });
}

const isOwnHost = (hostname: string, own: string): boolean =>
  isLoopbackHost(hostname) ||
  hostname === own.toLowerCase() ||
  hostname === `[${own.toLowerCase()}]` ||
  hostname === "0.0.0.0" ||
  hostname === "[::]";
