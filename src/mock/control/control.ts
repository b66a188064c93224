import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import type { Pictures } from "../images/pictures.ts";
import { servedRoutes } from "../page/page-routes.ts";
import { Exchange } from "../requests/exchange.ts";
import { isFromForeignPage, isKnownHost } from "../requests/pages.ts";
import type { Router } from "../requests/routing.ts";
import { readBody } from "../rules/body.ts";
import { rejectMalformed } from "../rules/malformed.ts";
import { Rejection } from "../rules/rejection.ts";
import type { World } from "../world/world.ts";
import type { ControlRoute } from "./openapi.ts";
import { controlRoutes } from "./routes.ts";

/** A state contains every uploaded image, so it can be far larger than a request body of the service. */
const controlBodyBytes = 512 * 1024 * 1024;

/** Adds the control routes: no API key, but known hosts only, so that no page of another origin uses them. */
export function addControl(router: Router, world: World, pictures: Pictures): void {
  for (const { method, path, work } of [...controlRoutes, ...servedRoutes(pictures)]) {
    router.add([method], path, (request, response, params, query) => {
      const exchange = new Exchange(world, request, response);
      try {
        rejectMalformed(request);
        requireAccess(world, request);
        readBody(request, controlBodyBytes, (body) => respond(exchange, body, { params, query }, work));
      } catch (error) {
        exchange.fail(error);
      }
    });
  }
}

async function respond(
  exchange: Exchange,
  body: Buffer | Rejection,
  { params, query }: { params: Readonly<Record<string, string>>; query: Readonly<Record<string, unknown>> },
  work: ControlRoute["work"] | ReturnType<typeof servedRoutes>[number]["work"],
): Promise<void> {
  try {
    if (body instanceof Rejection) throw body;
    const result = await work(exchange.world, body, params, query);
    if (typeof result === "function") result(exchange);
    else if (result instanceof Readable) exchange.sendStream(result);
    else exchange.send({ status: 200, body: JSON.stringify(result) });
  } catch (error) {
    exchange.fail(error);
  }
}

/**
 * 403 unless the Host header names this machine or an allowed host, which blocks web pages whose name
 * resolves to this machine. Also 403 for another page: browsers let pages post, and load pictures, scripts
 * and frames, across origins without a preflight. Only a link may lead here.
 */
export function requireAccess(world: World, { method, headers }: IncomingMessage): void {
  if (!isKnownHost(world, headers))
    throw new Rejection("host_not_allowed", "/_mock accepts only a loopback Host, or one of --allow-host");
  const isLink = method === "GET" && headers["sec-fetch-dest"] === "document" && headers.origin === undefined;
  if (!isLink && isFromForeignPage(world, headers))
    throw new Rejection("host_not_allowed", "/_mock accepts no requests from pages of another origin");
}
