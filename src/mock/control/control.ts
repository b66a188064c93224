import { Readable } from "node:stream";
import { Exchange } from "../requests/exchange.ts";
import type { Router } from "../requests/routing.ts";
import { readBody } from "../rules/body.ts";
import { rejectMalformed } from "../rules/malformed.ts";
import { Refusal } from "../rules/refusal.ts";
import type { World } from "../world/world.ts";
import { requireAccess } from "./access.ts";
import { type ControlRoute, controlRoutes } from "./routes.ts";

/** A state contains every uploaded image, so it can be far larger than a request body of the service. */
const controlBodyBytes = 512 * 1024 * 1024;

/** Adds the control routes: no API key, but only known hosts, so that no web page of another origin can use them. */
export function addControl(router: Router, world: World): void {
  for (const { method, path, work } of controlRoutes) {
    router.add([method], path, (request, response, params) => {
      const exchange = new Exchange(world, request, response);
      try {
        rejectMalformed(request);
        requireAccess(world, request.headers);
        readBody(request, controlBodyBytes, (body) => respond(exchange, body, params, work));
      } catch (error) {
        exchange.fail(error);
      }
    });
  }
}

async function respond(
  exchange: Exchange,
  body: Buffer | Refusal | null,
  params: Readonly<Record<string, string>>,
  work: ControlRoute["work"],
): Promise<void> {
  if (body === null) return;
  try {
    if (body instanceof Refusal) throw body;
    const result = await work(exchange.world, body, params);
    if (result instanceof Readable) exchange.sendStream(result);
    else exchange.send({ status: 200, body: JSON.stringify(result) });
  } catch (error) {
    exchange.fail(error);
  }
}
