import type { FastifyInstance } from "fastify";
import { Exchange } from "../requests/exchange.ts";
import { rejectMalformed } from "../rules/malformed.ts";
import type { World } from "../world/world.ts";
import { openApiPath } from "./allowed-methods.ts";

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
