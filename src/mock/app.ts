import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { everyOperation } from "../contract/operations.ts";
import { addControl, requireAccess } from "./control/control.ts";
import { Pictures } from "./images/pictures.ts";
import { Exchange } from "./requests/exchange.ts";
import { handleBadConnections } from "./requests/parser-errors.ts";
import type { Handler, Handlers } from "./requests/pipeline.ts";
import { serve } from "./requests/pipeline.ts";
import { isDecodable, Router, steersMock, toOriginForm } from "./requests/routing.ts";
import { exports } from "./routes/exports.ts";
import { images } from "./routes/images.ts";
import { imports } from "./routes/imports.ts";
import { models } from "./routes/models.ts";
import { products } from "./routes/products.ts";
import { addSignedFiles } from "./routes/signed-files.ts";
import { tasks } from "./routes/tasks.ts";
import { webhooks } from "./routes/webhooks.ts";
import { rejectMalformed } from "./rules/malformed.ts";
import { invalid, Rejection } from "./rules/rejection.ts";
import type { World } from "./world/world.ts";

/** Limits in milliseconds: for the headers, for the complete request, and between two requests. */
interface Patience {
  readonly headersMs: number;
  readonly requestMs: number;
  readonly idleMs: number;
}

/** Limit for the URL and all headers, in bytes. That of the URL is lower, to get its own error. */
const headerBytes = 32 * 1024;

/**
 * Creates the HTTP server: operations, signed files, openapi.json and control routes. The mock reads every
 * body and writes every response itself, with limits and errors of its own, so that a framework would add
 * nothing but routes.
 */
export function createApp(
  world: World,
  patience: Patience = { headersMs: 10_000, requestMs: 60_000, idleMs: 72_000 },
): Server {
  const router = new Router();
  for (const { name, operation } of everyOperation) {
    router.add([operation.method], operation.path, serve(world, operation, findHandler(name)));
  }
  const pictures = new Pictures();
  addSignedFiles(router, world, pictures);
  addOpenApi(router, world);
  addControl(router, world, pictures);
  const options = {
    maxHeaderSize: headerBytes,
    headersTimeout: patience.headersMs,
    requestTimeout: patience.requestMs,
    keepAliveTimeout: patience.idleMs,
    connectionsCheckingInterval: Math.min(1_000, patience.headersMs),
    // Node's own response to a missing Host has no body; the mock responds with the envelope.
    requireHostHeader: false,
  };
  const server = createServer(options, (request, response) => {
    toOriginForm(request);
    if (!router.serve(request, response)) respondToUnknown(world, router, request, response);
  });
  // Keep every header, so that a request with too many is rejected instead of losing some.
  server.maxHeadersCount = 0;
  handleBadConnections(world, server);
  return server;
}

function respondToUnknown(
  world: World,
  router: Router,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const url = request.url!;
  const exchange = new Exchange(world, request, response);
  try {
    // Preflight requests fail there, and outsiders do not learn which paths exist.
    if (steersMock(url)) requireAccess(world, request);
    else if (request.method === "OPTIONS") {
      preflight(exchange);
      return;
    }
    rejectMalformed(request);
    if (!isDecodable(url)) throw invalid("the path cannot be decoded");
    throw unknownRoute(router.allowedMethods(url));
  } catch (error) {
    exchange.fail(error);
  }
}

/** 405 for a path that exists with other methods, else 404. */
function unknownRoute(allowed: readonly string[]): Rejection {
  if (allowed.length === 0) return new Rejection("route_not_found", "unknown path");
  const message = `this path accepts only ${allowed.join(" and ")}`;
  return new Rejection("method_not_allowed", message, { headers: { Allow: allowed.join(", ") } });
}

/** Allows every preflight request (What the service does). */
function preflight(exchange: Exchange): void {
  const { headers } = exchange.request;
  const asked = headers["access-control-request-headers"];
  exchange.send({
    status: 204,
    body: null,
    headers: {
      // Responses to requests with an Origin already have it.
      ...(headers.origin === undefined && { "Access-Control-Allow-Origin": "*" }),
      "Access-Control-Allow-Methods": "GET, POST, PATCH, DELETE, OPTIONS",
      "Access-Control-Allow-Headers": typeof asked === "string" && asked !== "" ? asked : "*",
      "Access-Control-Max-Age": "600",
    },
  });
}

const handlers = {
  products,
  images,
  imports,
  exports,
  tasks,
  models,
  webhooks,
} satisfies Handlers;

/** The handler of an operation by its name, such as `products.get`. */
function findHandler(name: string): Handler {
  const [resource, verb] = name.split(".") as [keyof Handlers, string];
  return (handlers[resource] as unknown as Record<string, Handler>)[verb]!;
}

/** Adds `GET /openapi.json`: the contract as an OpenAPI document. No API key, no rate limit. */
function addOpenApi(router: Router, world: World): void {
  let made: Promise<string> | undefined;
  router.add(["GET", "HEAD"], "/openapi.json", async (request, response) => {
    const exchange = new Exchange(world, request, response);
    try {
      rejectMalformed(request);
      made ??= print(world.baseUrl);
      exchange.send({ status: 200, body: await made });
    } catch (error) {
      exchange.fail(error);
    }
  });
}

/** Creates the document on the first request: most runs of the mock never need it. */
async function print(serverUrl: string): Promise<string> {
  const { openApiDocument } = await import("../contract/openapi/document.ts");
  return JSON.stringify(openApiDocument({ serverUrl }));
}
