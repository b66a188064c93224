import type { IncomingMessage, ServerResponse } from "node:http";
import type { Operation } from "../../contract/operation.ts";

/** What serves a request to one operation: its path parameters and its query as the router read them. */
export type Serve = (
  request: IncomingMessage,
  response: ServerResponse,
  params: unknown,
  query: unknown,
) => void;

interface DirectRoute {
  /** Each part between slashes: a fixed text, or the name of the parameter that stands there. */
  readonly segments: readonly { readonly text: string; readonly name: string | undefined }[];
  readonly serve: Serve;
}

/** A path that reads the same before and after decoding, without a query. */
const plain = /^\/v1\/[\w/-]+$/;

/**
 * The way of nearly every request: a plain path to a known operation goes straight to its work. Fastify makes a request and a
 * reply of its own for each route, which takes a microsecond or two and serves nobody here; it has the same routes, and all else.
 */
export class DirectRoutes {
  readonly #byLength = new Map<string, DirectRoute[]>();

  add({ method, path }: Operation, serve: Serve): void {
    const segments = path.split("/").map((text) => ({ text, name: /^\{(\w+)\}$/.exec(text)?.[1] }));
    const key = `${method} ${segments.length}`;
    this.#byLength.set(key, [...(this.#byLength.get(key) ?? []), { segments, serve }]);
  }

  /** Serves the request, or says false when it needs a closer look. */
  serve(request: IncomingMessage, response: ServerResponse): boolean {
    const url = request.url!;
    if (!plain.test(url)) return false;
    const parts = url.split("/");
    const candidates = this.#byLength.get(`${request.method} ${parts.length}`);
    if (candidates === undefined) return false;
    for (const { segments, serve } of candidates) {
      const params = paramsOf(segments, parts);
      if (params === null) continue;
      serve(request, response, params, noQuery);
      return true;
    }
    return false;
  }
}

const noQuery = {};

/** What stands where the parameters are, by their names; null when the path is another. */
function paramsOf(segments: DirectRoute["segments"], parts: readonly string[]): object | null {
  const params: Record<string, string> = {};
  for (let at = 0; at < parts.length; at++) {
    const { text, name } = segments[at]!;
    if (name === undefined ? parts[at] !== text : parts[at] === "") return null;
    if (name !== undefined) params[name] = parts[at]!;
  }
  return params;
}
