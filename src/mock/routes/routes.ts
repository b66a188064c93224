import type { FastifyInstance } from "fastify";
import { everyOperation } from "../../contract/operations.ts";
import { controlRoutes } from "../control/routes.ts";
import { signedPaths } from "../images/signed-urls.ts";
import { Exchange } from "../requests/exchange.ts";
import type { Handlers } from "../requests/handler.ts";
import { toPath } from "../requests/routing.ts";
import { rejectMalformed } from "../rules/malformed.ts";
import type { World } from "../world/world.ts";
import { exports } from "./exports.ts";
import { images } from "./images.ts";
import { imports } from "./imports.ts";
import { models } from "./models.ts";
import { products } from "./products.ts";
import { tasks } from "./tasks.ts";
import { webhooks } from "./webhooks.ts";

/** The handler of every operation of the contract. */
export const handlers = {
  products,
  images,
  imports,
  exports,
  tasks,
  models,
  webhooks,
} satisfies Handlers;

/** Path of the OpenAPI document. */
const openApiPath = "/openapi.json";

/** Paths of the mock in addition to the contract's, each with its methods. */
const ownPaths: readonly (readonly [string, readonly string[]])[] = [
  ...Object.values(signedPaths).map((path) => [path("{id}"), ["GET", "HEAD"]] as const),
  [openApiPath, ["GET", "HEAD"]],
  ...controlRoutes.map(({ path, method }) => [path, [method]] as const),
];

const known = [
  ...everyOperation.map(({ operation }) => [operation.path, [operation.method]] as const),
  ...ownPaths,
].map(([path, methods]) => ({
  pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
  methods,
}));

/** All methods of all paths. */
export const knownMethods: ReadonlySet<string> = new Set(known.flatMap(({ methods }) => methods));

/** The methods allowed at a path; empty if the path is unknown. */
export function allowedMethods(url: string): string[] {
  const path = toPath(url);
  const methods = known.filter(({ pattern }) => pattern.test(path)).flatMap((one) => one.methods);
  return [...new Set(methods)];
}

/** Adds `GET /openapi.json`: the contract as an OpenAPI document. No API key, no rate limit. */
export function addOpenApi(app: FastifyInstance, world: World): void {
  let made: Promise<string> | undefined;
  app.route({
    method: ["GET", "HEAD"],
    url: openApiPath,
    handler: async (request, reply) => {
      reply.hijack();
      const exchange = new Exchange(world, request.raw, reply.raw);
      try {
        rejectMalformed(request.raw);
        made ??= print(world.baseUrl);
        exchange.send({ status: 200, body: await made });
      } catch (error) {
        exchange.fail(error);
      }
    },
  });
}

/** Creates the document on the first request: most runs of the mock never need it. */
async function print(serverUrl: string): Promise<string> {
  const { openApiDocument } = await import("../../contract/openapi/document.ts");
  return JSON.stringify(openApiDocument({ serverUrl }));
}
