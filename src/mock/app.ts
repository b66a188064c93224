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
import { DirectRoutes } from "./requests/direct-routes.ts";
import { Exchange } from "./requests/exchange.ts";
import type { Handler } from "./requests/handler.ts";
import { answerBadConnections } from "./requests/parser-errors.ts";
import { serve } from "./requests/pipeline.ts";
import { decodedPath, originForm, steersMock } from "./requests/request-target.ts";
import { allowedMethods, knownMethods } from "./routes/allowed-methods.ts";
import { handlers } from "./routes/handlers.ts";
import { addOpenApi } from "./routes/openapi.ts";
import { addSignedFiles } from "./routes/signed-files.ts";
import { refuseMalformed } from "./rules/malformed.ts";
import { invalid, Refusal } from "./rules/refusal.ts";
import { refuseStrangers } from "./rules/strangers.ts";
import type { World } from "./world/world.ts";

/** How long a client may take for its headers, for its whole request and between two requests, in milliseconds. */
export interface Patience {
  readonly headersMs: number;
  readonly requestMs: number;
  readonly idleMs: number;
}

/** Bytes of all headers and the URL together; the URL's own limit is below it, so that it is refused for what it is. */
const headerBytes = 32 * 1024;

/** The mock as a Fastify server: every operation of the contract, signed files, the document of it all and the control. */
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
    serverFactory: (route) =>
      createHttpServer(world, patience, (request, response) => {
        if (direct.serve(request, response)) return;
        // The router answers some of the others by itself, and Node's parser knows more of them with every version.
        if (knownMethods.has(request.method!)) route(request, response);
        else answerUnknown(world, request, response);
      }),
    // A path that cannot be decoded, which the router refuses before any route is chosen.
    frameworkErrors: (_error, request, reply) => {
      reply.hijack();
      refuse(world, request.raw, reply.raw, undecodable);
    },
    clientErrorHandler: () => {},
  });
  // Bodies are read by the pipeline, after the caller is known and within each operation's own limit.
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
          // The answer is written by us, so that every one goes through one place and no hook runs for nothing.
          reply.hijack();
          // To the router nothing is a name, too; to the contract a path that ends in a slash is another path.
          if (isNameless(request.params))
            refuse(world, request.raw, reply.raw, () => unknownRoute(request.raw.url!));
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
    answerUnknown(world, request.raw, reply.raw);
  });
  return app;
}

/** Whether a parameter of the path has no characters. */
function isNameless(params: unknown): boolean {
  for (const name in params as object) if ((params as Record<string, string>)[name] === "") return true;
  return false;
}

/** One for every address that a host name stands for. */
function createHttpServer(world: World, patience: Patience, route: RequestListener): Server {
  const options = {
    maxHeaderSize: headerBytes,
    headersTimeout: patience.headersMs,
    requestTimeout: patience.requestMs,
    keepAliveTimeout: patience.idleMs,
    connectionsCheckingInterval: Math.min(1_000, patience.headersMs),
    // Node's own answer to a missing Host has no body; ours has the envelope.
    requireHostHeader: false,
  };
  const server = createServer(options, (request, response) => {
    toOriginForm(request);
    if (world.hasBegun) route(request, response);
    else world.onceBegun(() => route(request, response));
  });
  // The parser is to leave none out, so that too many are told so.
  server.maxHeadersCount = 0;
  answerBadConnections(world, server);
  return server;
}

function toOriginForm(request: IncomingMessage): void {
  if (request.url!.startsWith("/")) return;
  const target = originForm(request.url!);
  // A target that names a host says more than the Host header (RFC 9112, 3.2.2).
  if (target.host !== undefined) request.headers.host = target.host;
  request.url = target.url;
}

const undecodable = () => invalid("the path cannot be decoded");

/** Answers what no route is there for. */
function answerUnknown(world: World, request: IncomingMessage, response: ServerResponse): void {
  const { method, url } = request;
  if (decodedPath(url!) === null) refuse(world, request, response, undecodable);
  else if (steersMock(url!)) refuse(world, request, response, () => unknownControl(request));
  else if (method === "OPTIONS") preflight(world, request, response);
  else refuse(world, request, response, () => unknownRoute(url!));
}

/** 405 for a path that another method has, else 404 (interface: bad requests of any kind). */
function unknownRoute(url: string): Refusal {
  const allowed = allowedMethods(url);
  if (allowed.length === 0) return new Refusal("route_not_found", "there is nothing at this path");
  const message = `this path takes ${allowed.join(" and ")}`;
  return new Refusal("method_not_allowed", message, { headers: { Allow: allowed.join(", ") } });
}

/** The same for `/_mock`, where no preflight of a web page succeeds and strangers are not even told what is there. */
function unknownControl({ headers, url }: IncomingMessage): Refusal {
  refuseStrangers(headers);
  return unknownRoute(url!);
}

function refuse(world: World, request: IncomingMessage, response: ServerResponse, why: () => Refusal): void {
  const exchange = new Exchange(world, request, response);
  try {
    refuseMalformed(request);
    exchange.fail(why());
  } catch (error) {
    exchange.fail(error);
  }
}

/** Permissive, whatever is asked for (What the service does). */
function preflight(world: World, request: IncomingMessage, response: ServerResponse): void {
  const exchange = new Exchange(world, request, response);
  const asked = request.headers["access-control-request-headers"];
  exchange.send({
    status: 204,
    body: null,
    headers: {
      // Every answer to a request with an Origin has it already.
      ...(request.headers.origin === undefined && { "Access-Control-Allow-Origin": "*" }),
      "Access-Control-Allow-Methods": "GET, POST, PATCH, DELETE, OPTIONS",
      "Access-Control-Allow-Headers": typeof asked === "string" && asked !== "" ? asked : "*",
      "Access-Control-Max-Age": "600",
    },
  });
}
