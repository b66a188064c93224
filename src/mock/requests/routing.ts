import type { IncomingMessage, ServerResponse } from "node:http";
import { toParts, toPath, toQuery } from "../rules/paths.ts";

/** Serves a request to one route, with the decoded parameters of its path, and its query. */
export type Serve = (
  request: IncomingMessage,
  response: ServerResponse,
  params: Readonly<Record<string, string>>,
  query: Readonly<Record<string, unknown>>,
) => void;

interface Route {
  readonly methods: readonly string[];
  /** The parts between slashes: fixed text, or the name of a parameter. */
  readonly segments: readonly { readonly text: string; readonly name: string | undefined }[];
  readonly serve: Serve;
}

/** Finds the route of a request. A final slash makes another path, and a parameter is never empty. */
export class Router {
  /** By number of segments. */
  readonly #routes = new Map<number, Route[]>();

  /** Adds a route; parameters of the path are in braces. */
  add(methods: readonly string[], path: string, serve: Serve): void {
    const segments = path.split("/").map((text) => ({ text, name: /^\{(\w+)\}$/.exec(text)?.[1] }));
    const others = this.#routes.get(segments.length) ?? [];
    this.#routes.set(segments.length, [...others, { methods, segments, serve }]);
  }

  /** Serves the request; returns false if it matches no route. */
  serve(request: IncomingMessage, response: ServerResponse): boolean {
    const url = request.url!;
    const parts = toParts(url);
    for (const { methods, segments, serve } of this.#routes.get(parts?.length ?? 0) ?? []) {
      if (!methods.includes(request.method!)) continue;
      const params = parseParams(segments, parts!);
      if (params === null) continue;
      serve(request, response, params, toQuery(url));
      return true;
    }
    return false;
  }

  /** The methods of a path; empty if the path is unknown. */
  allowedMethods(url: string): string[] {
    const parts = toParts(url) ?? [];
    const routes = this.#routes.get(parts.length) ?? [];
    const matching = routes.filter(({ segments }) => parseParams(segments, parts) !== null);
    return [...new Set(matching.flatMap(({ methods }) => methods))];
  }
}

/** The path parameters by name; null if the path does not match. */
function parseParams(segments: Route["segments"], parts: readonly string[]): Record<string, string> | null {
  const params: Record<string, string> = {};
  for (let at = 0; at < parts.length; at++) {
    const { text, name } = segments[at]!;
    if (name === undefined ? parts[at] !== text : parts[at] === "") return null;
    if (name !== undefined) params[name] = parts[at]!;
  }
  return params;
}

export const isDecodable = (url: string): boolean => toParts(url) !== null;

export const steersMock = (url: string): boolean =>
  // Nearly all requests go to /v1/ and skip the decoding.
  !url.startsWith("/v1/") && (toParts(url) ?? toPath(url).split("/"))[1] === "_mock";

/** Converts a request target to origin form, with the host of an absolute form (RFC 9112, 3.2). */
export function toOriginForm(request: IncomingMessage): void {
  const [, host, rest] = /^https?:\/\/([^/?#]*)(.*)$/is.exec(request.url!) ?? [];
  if (host === undefined) return;
  // A host in the request target takes precedence over the Host header (RFC 9112, 3.2.2).
  request.headers.host = host;
  request.url = rest!.startsWith("/") ? rest! : `/${rest}`;
}
