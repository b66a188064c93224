import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import * as z from "zod";
import { Exchange } from "./exchange.ts";
import { lastMoment } from "./last-moment.ts";
import { invalid, Refusal } from "./refusal.ts";
import { parseJson, readBody } from "./rules/body.ts";
import { check } from "./rules/checks.ts";
import { refuseMalformed } from "./rules/malformed.ts";
import { refuseStrangers } from "./rules/strangers.ts";
import { jsonPieces, MockState, restoreSnapshot, takeSnapshot } from "./snapshot.ts";
import type { World } from "./world.ts";

/** A state holds every uploaded image, so it may be far larger than any body of the service. */
const controlBodyBytes = 512 * 1024 * 1024;

const ClockMove = z.strictObject({ advance_ms: z.int("must be a whole number").min(0) });

/** What a control request is answered with: a value to print as JSON, or its pieces. */
type Work = (body: Buffer) => unknown;

/**
 * `/_mock`: what a test or a developer steers the mock with. It needs no key and answers only to a loopback Host, so that no
 * web page and no other machine reaches it. One line a route; faults, account and deliveries stand here once they are built.
 */
export function addControl(app: FastifyInstance, world: World): void {
  const on = (method: "GET" | "POST" | "PUT", url: string, work: Work) =>
    app.route({ method, url, handler: (request, reply) => control(world, request, reply, work) });

  on("POST", "/_mock/clock", (body) => {
    const { advance_ms } = check(ClockMove, parseJson(body), "body");
    if (world.clock.now() + advance_ms > lastMoment) {
      throw invalid("that leaves no room for lifetimes before the year 10000", "advance_ms");
    }
    world.clock.advance(advance_ms);
    return { now: world.timestamp() };
  });
  on("POST", "/_mock/reset", () => {
    world.reset();
    return { now: world.timestamp() };
  });
  on("GET", "/_mock/state", () => Readable.from(printed(takeSnapshot(world))));
  on("PUT", "/_mock/state", (body) => {
    const state = check(MockState, parseJson(body), "body");
    restoreSnapshot(world, state);
    return { now: world.timestamp() };
  });
  on("GET", "/_mock/requests", () => world.log.list());
}

/** The whole state as bytes, all at once, so that nothing changes in between; in pieces, as one text may be too short for it. */
function printed(state: MockState): Buffer[] {
  const buffers: Buffer[] = [];
  let text = "";
  for (const piece of jsonPieces(state)) {
    text += piece;
    if (text.length < 1_000_000) continue;
    buffers.push(Buffer.from(text));
    text = "";
  }
  return [...buffers, Buffer.from(text)];
}

function control(world: World, request: FastifyRequest, reply: FastifyReply, work: Work): void {
  reply.hijack();
  const exchange = new Exchange(world, request.raw, reply.raw);
  try {
    refuseMalformed(request.raw);
    refuseStrangers(request.raw.headers);
    readBody(request.raw, controlBodyBytes, (outcome) => {
      if (outcome === null) return;
      try {
        if (outcome instanceof Refusal) throw outcome;
        const result = work(outcome);
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
