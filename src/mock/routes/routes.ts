import { Exchange } from "../requests/exchange.ts";
import type { Handler, Handlers } from "../requests/handler.ts";
import type { Router } from "../requests/routing.ts";
import { rejectMalformed } from "../rules/malformed.ts";
import type { World } from "../world/world.ts";
import { exports } from "./exports.ts";
import { images } from "./images.ts";
import { imports } from "./imports.ts";
import { models } from "./models.ts";
import { products } from "./products.ts";
import { tasks } from "./tasks.ts";
import { webhooks } from "./webhooks.ts";

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
export function findHandler(name: string): Handler {
  const [resource, verb] = name.split(".") as [keyof Handlers, string];
  return (handlers[resource] as unknown as Record<string, Handler>)[verb]!;
}

/** Adds `GET /openapi.json`: the contract as an OpenAPI document. No API key, no rate limit. */
export function addOpenApi(router: Router, world: World): void {
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
  const { openApiDocument } = await import("../../contract/openapi/document.ts");
  return JSON.stringify(openApiDocument({ serverUrl }));
}
