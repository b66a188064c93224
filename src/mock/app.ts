import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import Fastify, { type FastifyInstance } from "fastify";
import { type Operations, operations } from "../contract/operations.ts";
import { addControl } from "./control/control.ts";
import { Exchange } from "./requests/exchange.ts";
import type { Handler } from "./requests/handler.ts";
import { handleBadConnections } from "./requests/parser-errors.ts";
import { serve } from "./requests/pipeline.ts";
import { DirectRoutes, decodedPath, originForm, steersMock } from "./requests/routing.ts";
import { addOpenApi, allowedMethods, handlers, knownMethods } from "./routes/routes.ts";
import { addSignedFiles } from "./routes/signed-files.ts";
import { requireLoopback } from "./rules/authenticate.ts";
import { rejectMalformed } from "./rules/malformed.ts";
import { invalid, Refusal } from "./rules/refusal.ts";
import type { World } from "./world/world.ts";

/** Limits in milliseconds: for the headers, for the complete request, and between two requests. */
export interface Patience {
  readonly headersMs: number;
  readonly requestMs: number;
  readonly idleMs: number;
}

/** Limit for the URL and all headers, in bytes. That of the URL is lower, to get its own error. */
const headerBytes = 32 * 1024;

/** Creates the Fastify server: operations, signed files, openapi.json and control routes. */
export function createApp(
  world: World,
  patience: Patience = { headersMs: 10_000, requestMs: 60_000, idleMs: 72_000 },
): FastifyInstance {
  const direct = new DirectRoutes();
  const app = Fastify({
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    return503OnClosing: false,
    routerOptions: { maxParamLength: headerBytes },
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    serverFactory: (route) =>
      createHttpServer(world, patience, (request, response) => {
        if (direct.serve(request, response)) return;
        // The router handles some other methods itself, and each Node version parses more of them.
        if (knownMethods.has(request.method!)) route(request, response);
        else respondToUnknown(world, request, response);
      }),
    // The router rejects a path that it cannot decode before it chooses a route.
    frameworkErrors: (_error, request, reply) => {
      reply.hijack();
      reject(world, request.raw, reply.raw, undecodable);
    },
    clientErrorHandler: () => {},
  });
  // The pipeline reads bodies: after authentication, and within the limit of each operation.
  for (const method of ["POST", "PATCH", "PUT", "DELETE", "OPTIONS"]) {
    app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  }
  for (const [resource, verbs] of Object.entries(operations)) {
    for (const [verb, operation] of Object.entries(verbs)) {
      const work = (handlers[resource as keyof Operations] as Record<string, unknown>)[verb] as Handler;
      const url = operation.path.replaceAll(/\{(\w+)\}/g, ":$1");
      const serveOperation = serve(world, operation, work);
      direct.add(operation, serveOperation);
      app.route({
        method: operation.method,
        url,
        handler: (request, reply) => {
          // The mock writes every response itself, in one place; Fastify's hooks would run for nothing.
          reply.hijack();
          // The router accepts an empty path parameter; in the contract, a trailing slash makes another path.
          if (isNameless(request.params))
            reject(world, request.raw, reply.raw, () => unknownRoute(request.raw.url!));
          else serveOperation(request.raw, reply.raw, request.params, request.query);
        },
      });
    }
  }
  addSignedFiles(app, world);
  addOpenApi(app, world);
  addControl(app, world);
  app.setNotFoundHandler((request, reply) => {
    reply.hijack();
    respondToUnknown(world, request.raw, reply.raw);
  });
  return app;
}

/** The contract has its own schemas. Fastify loads its compilers of schemas, which are large, unless it is given some. */
function noSchemas(): never {
  throw new Error("no route of the mock has a schema of Fastify");
}

/** Whether a path parameter is empty. */
function isNameless(params: unknown): boolean {
  for (const name in params as object) if ((params as Record<string, string>)[name] === "") return true;
  return false;
}

/** Creates one HTTP server. Fastify asks for one per address of the host name. */
function createHttpServer(world: World, patience: Patience, route: RequestListener): Server {
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
    if (world.hasBegun) route(request, response);
    else world.onceBegun(() => route(request, response));
  });
  // Keep every header, so that a request with too many is rejected instead of losing some.
  server.maxHeadersCount = 0;
  handleBadConnections(world, server);
  return server;
}

function toOriginForm(request: IncomingMessage): void {
  if (request.url!.startsWith("/")) return;
  const target = originForm(request.url!);
  // A host in the request target takes precedence over the Host header (RFC 9112, 3.2.2).
  if (target.host !== undefined) request.headers.host = target.host;
  request.url = target.url;
}

const undecodable = () => invalid("the path cannot be decoded");

/** Responds to a request that matches no route. */
function respondToUnknown(world: World, request: IncomingMessage, response: ServerResponse): void {
  const { method, url } = request;
  if (decodedPath(url!) === null) reject(world, request, response, undecodable);
  else if (steersMock(url!)) reject(world, request, response, () => unknownControl(request));
  else if (method === "OPTIONS") preflight(world, request, response);
  else reject(world, request, response, () => unknownRoute(url!));
}

/** 405 for a path that exists with other methods, else 404. */
function unknownRoute(url: string): Refusal {
  const allowed = allowedMethods(url);
  if (allowed.length === 0) return new Refusal("route_not_found", "unknown path");
  const message = `this path accepts only ${allowed.join(" and ")}`;
  return new Refusal("method_not_allowed", message, { headers: { Allow: allowed.join(", ") } });
}

/** The same for `/_mock`. Preflight requests fail there, and outsiders do not learn which paths exist. */
function unknownControl({ headers, url }: IncomingMessage): Refusal {
  requireLoopback(headers);
  return unknownRoute(url!);
}

function reject(world: World, request: IncomingMessage, response: ServerResponse, why: () => Refusal): void {
  const exchange = new Exchange(world, request, response);
  try {
    rejectMalformed(request);
    exchange.fail(why());
  } catch (error) {
    exchange.fail(error);
  }
}

/** Allows every preflight request (What the service does). */
function preflight(world: World, request: IncomingMessage, response: ServerResponse): void {
  const exchange = new Exchange(world, request, response);
  const asked = request.headers["access-control-request-headers"];
  exchange.send({
    status: 204,
    body: null,
    headers: {
      // Responses to requests with an Origin already have it.
      ...(request.headers.origin === undefined && { "Access-Control-Allow-Origin": "*" }),
      "Access-Control-Allow-Methods": "GET, POST, PATCH, DELETE, OPTIONS",
      "Access-Control-Allow-Headers": typeof asked === "string" && asked !== "" ? asked : "*",
      "Access-Control-Max-Age": "600",
    },
  });
}
