import type { IncomingMessage, ServerResponse } from "node:http";
import type { Operation } from "../../contract/operation.ts";

/** Serves a request to one operation, with the path parameters and the query as the router parsed them. */
export type Serve = (
  request: IncomingMessage,
  response: ServerResponse,
  params: unknown,
  query: unknown,
) => void;

interface DirectRoute {
  /** The parts between slashes: fixed text, or the name of a parameter. */
  readonly segments: readonly { readonly text: string; readonly name: string | undefined }[];
  readonly serve: Serve;
}

/** A path without a query that needs no decoding. */
const plain = /^\/v1\/[\w/-]+$/;

/**
 * Routes plain paths of known operations, which are nearly all requests, without Fastify. Its request and
 * reply objects take a microsecond or two per request, and the mock does not use them. Fastify has the same
 * routes and serves everything else.
 */
export class DirectRoutes {
  readonly #byLength = new Map<string, DirectRoute[]>();

  add({ method, path }: Operation, serve: Serve): void {
    const segments = path.split("/").map((text) => ({ text, name: /^\{(\w+)\}$/.exec(text)?.[1] }));
    const key = `${method} ${segments.length}`;
    this.#byLength.set(key, [...(this.#byLength.get(key) ?? []), { segments, serve }]);
  }

  /** Serves the request; returns false if the router must handle it. */
  serve(request: IncomingMessage, response: ServerResponse): boolean {
    const url = request.url!;
    if (!plain.test(url)) return false;
    const parts = url.split("/");
    const candidates = this.#byLength.get(`${request.method} ${parts.length}`);
    if (candidates === undefined) return false;
    for (const { segments, serve } of candidates) {
      const params = parseParams(segments, parts);
      if (params === null) continue;
      serve(request, response, params, noQuery);
      return true;
    }
    return false;
  }
}

const noQuery = {};

/** The path parameters by name; null if the path does not match. */
function parseParams(segments: DirectRoute["segments"], parts: readonly string[]): object | null {
  const params: Record<string, string> = {};
  for (let at = 0; at < parts.length; at++) {
    const { text, name } = segments[at]!;
    if (name === undefined ? parts[at] !== text : parts[at] === "") return null;
    if (name !== undefined) params[name] = parts[at]!;
  }
  return params;
}

/** The path of a URL, decoded as the router does; unchanged if it cannot be decoded. */
export const toPath = (url: string): string => decodedPath(url) ?? url.split(/[?#]/, 1)[0]!;

/** The decoded path of a URL; null if it cannot be decoded. */
export function decodedPath(url: string): string | null {
  try {
    return decodeURI(url.split(/[?#]/, 1)[0]!);
  } catch {
    return null;
  }
}

/** Whether a URL belongs to the control routes. */
export const steersMock = (url: string): boolean =>
  // Nearly all requests go to /v1/ and skip the decoding.
  !url.startsWith("/v1/") && /^\/_mock(?:\/|$)/.test(toPath(url));

/** Converts a request target to origin form, with the host of an absolute form (RFC 9112, 3.2). */
export function originForm(target: string): { url: string; host?: string } {
  const [, host, rest] = /^https?:\/\/([^/?#]*)(.*)$/is.exec(target) ?? [];
  if (host === undefined) return { url: target };
  return { url: rest!.startsWith("/") ? rest! : `/${rest}`, host };
}
