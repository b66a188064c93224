import { SignatureError, verifyWebhook } from "@catalogue-imaging/catalogue";
import fastify, { type FastifyInstance } from "fastify";
import type { Shop } from "./shop.js";

const text = { type: "string", minLength: 1 };
const product = { type: "object", required: ["name", "photo"], properties: { name: text, photo: text } };

/** The HTTP server of the shop. `now` is a parameter, so that tests can pass the clock of the mock. */
export function createServer(
  shop: Shop,
  secret: () => string,
  now: () => number = Date.now,
): FastifyInstance {
  const app = fastify();

  app.get("/products", () => shop.products());
  app.put<{ Params: { reference: string }; Body: { name: string; photo: string } }>(
    "/products/:reference",
    { schema: { body: product } },
    async (request, reply) => {
      shop.save({ reference: request.params.reference, name: request.body.name, photo: request.body.photo });
      return reply.code(204).send();
    },
  );

  // In a scope of its own, because the signature covers the bytes as sent.
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
    scope.post<{ Body: Buffer }>("/events", async (request, reply) => {
      try {
        const header = request.headers["service-signature"] as string | undefined;
        await shop.handle(
          verifyWebhook({ header, rawBody: request.body ?? "", secret: secret(), now: now() }),
        );
        return reply.code(200).send();
      } catch (error) {
        // After a 500, the service sends the event again.
        return reply.code(error instanceof SignatureError ? 400 : 500).send();
      }
    });
  });
  return app;
}
