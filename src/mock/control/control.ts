import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Exchange } from "../requests/exchange.ts";
import { requireLoopback } from "../rules/authenticate.ts";
import { readBody } from "../rules/body.ts";
import { rejectMalformed } from "../rules/malformed.ts";
import { Refusal } from "../rules/refusal.ts";
import type { World } from "../world/world.ts";
import { type ControlRoute, controlRoutes } from "./routes.ts";

/** A state contains every uploaded image, so it can be far larger than a request body of the service. */
const controlBodyBytes = 512 * 1024 * 1024;

/** Adds the control routes: no API key, but only a loopback Host, so that no web page can use them. */
export function addControl(app: FastifyInstance, world: World): void {
  for (const route of controlRoutes) {
    const url = route.path.replaceAll(/\{(\w+)\}/g, ":$1");
    app.route({
      method: route.method,
      url,
      handler: (request, reply) => control(world, request, reply, route.work),
    });
  }
}

function control(
  world: World,
  request: FastifyRequest,
  reply: FastifyReply,
  work: ControlRoute["work"],
): void {
  reply.hijack();
  const exchange = new Exchange(world, request.raw, reply.raw);
  try {
    rejectMalformed(request.raw);
    requireLoopback(request.raw.headers);
    readBody(request.raw, controlBodyBytes, async (outcome) => {
      if (outcome === null) return;
      try {
        if (outcome instanceof Refusal) throw outcome;
        const result = await work(world, outcome, request.params as Record<string, string>);
        if (result instanceof Readable) exchange.sendStream(result);
        else exchange.send({ status: 200, body: JSON.stringify(result) });
      } catch (error) {
        exchange.fail(error);
      }
    });
  } catch (error) {
    exchange.fail(error);
  }
}
