import { type BodyType, mayHaveNoBody, type Operation } from "../../contract/operation.ts";
import { faultAnswer } from "../faults/fault-answer.ts";
import type { RequestFault } from "../faults/faults.ts";
import { readUpload } from "../images/upload.ts";
import { authenticate, authorize, type Caller } from "../rules/authenticate.ts";
import { acceptedType, bodyLimitOf, parseJson, readBody } from "../rules/body.ts";
import { check } from "../rules/checks.ts";
import { type Answer, fingerprintOf, idempotencyKeyOf, type KeyRecord } from "../rules/idempotency.ts";
import { refuseMalformed } from "../rules/malformed.ts";
import { Refusal } from "../rules/refusal.ts";
import type { Organization } from "../store/organization.ts";
import type { World } from "../world/world.ts";
import type { Serve } from "./direct-routes.ts";
import { answerOf, Exchange } from "./exchange.ts";
import type { Call, Handler } from "./handler.ts";

const noBytes = Buffer.alloc(0);

/** A request on its way: what each step has found out about it. */
interface Passage {
  readonly exchange: Exchange;
  readonly caller: Caller;
  readonly organization: Organization;
  readonly params: unknown;
  readonly query: unknown;
  bytes: Buffer;
  readonly key: string | null;
  /** What the key stands for, once it is claimed. */
  claim: KeyRecord | null;
  /** What has been ordered to go wrong with it. */
  fault: RequestFault | null;
}

/**
 * The way of every request to one operation, whichever router it came through:
 * request id -> form -> who calls -> rate limit -> scope -> body -> idempotency -> faults -> content type -> checks -> work -> answer.
 */
export function serve(world: World, operation: Operation, handler: Handler): Serve {
  const bodyLimit = bodyLimitOf(operation);
  const mayBeEmpty = mayHaveNoBody(operation);
  // Most requests have no query; what the schema makes of none is worked out once.
  const emptyQuery = operation.query.parse({});

  return (request, response, params, query) => {
    const exchange = new Exchange(world, request, response);
    try {
      refuseMalformed(request);
      const caller = authenticate(request.headers.authorization);
      const organization = world.organizations[caller.organization];
      const { rateLimit } = world.options;
      exchange.rate = organization.rate.take(rateLimit, exchange.isRead, exchange.at);
      // Before the idempotency key: an answer stored under it is for callers who might have asked for it.
      authorize(caller, operation.scope);
      // GET is never tracked (Cross-cutting rule 1), and a body it may have is nobody's business.
      const isRead = operation.method === "GET";
      const key = isRead ? null : idempotencyKeyOf(request.headers);
      const passage: Passage = {
        exchange,
        caller,
        organization,
        params,
        query,
        bytes: noBytes,
        key,
        claim: null,
        fault: null,
      };
      if (isRead) hold(passage);
      else withBody(passage);
    } catch (error) {
      exchange.fail(error);
    }
  };

  function withBody(passage: Passage): void {
    readBody(passage.exchange.request, bodyLimit, (outcome) => {
      // A body too large is refused before it is known, so there is nothing to store the answer with.
      if (outcome instanceof Refusal) return passage.exchange.fail(outcome);
      if (outcome === null) return;
      passage.bytes = outcome;
      hold(passage);
    });
  }

  /** Claims the idempotency key, and waits out the latency and a delay: from here on the request counts as running. */
  function hold(passage: Passage): void {
    const { exchange } = passage;
    try {
      const stored = claimKey(passage);
      let { latencyMs: wait } = world.options;
      if (!world.faults.none) {
        passage.fault = world.faults.ofRequest(exchange.method, exchange.url, stored !== null);
        wait += passage.fault?.delayMs ?? 0;
      }
      if (stored !== null) {
        if (!cutBefore(passage)) exchange.send(stored, true);
      } else if (wait === 0) run(passage);
      else world.hold(world.clock.now() + wait, () => run(passage));
    } catch (error) {
      exchange.fail(error);
    }
  }

  /** Has a fault cut the connection now, with nothing done and the key free again; one that cuts the answer waits for it. */
  function cutBefore({ exchange, organization, key, claim, fault }: Passage): boolean {
    if (fault === null || fault.cut === null) return false;
    if (fault.cut !== "before") {
      exchange.lost = fault.cut === "after" ? "whole" : fault.cut;
      return false;
    }
    if (key !== null && claim?.answer === null) organization.keys.release(key, claim);
    exchange.cut();
    return true;
  }

  /** The stored answer, when the request is one that was finished before. */
  function claimKey(passage: Passage): Answer | null {
    const { key, exchange, organization, bytes } = passage;
    if (key === null) return null;
    const fingerprint = fingerprintOf(exchange.method, exchange.url, bytes);
    passage.claim = organization.keys.claim(key, fingerprint, world.clock.now());
    return passage.claim.answer;
  }

  function run(passage: Passage): void {
    const { fault } = passage;
    try {
      if (fault !== null) {
        if (cutBefore(passage)) return;
        if (fault.status !== null) {
          finish(passage, faultAnswer(fault.status, operation));
          return;
        }
      }
      const body = operation.body === undefined ? null : bodyOf(passage);
      if (body instanceof Promise) {
        body.then((form) => work(passage, form)).catch((error) => finish(passage, answerOf(error)));
      } else {
        work(passage, body);
      }
    } catch (error) {
      finish(passage, answerOf(error));
    }
  }

  /** The body as the handler gets it, held to the contract. A form takes a moment, anything else is there at once. */
  function bodyOf({ exchange: { request }, bytes }: Passage) {
    if (mayBeEmpty && bytes.length === 0) {
      const [type, schema] = Object.entries(operation.body!)[0]!;
      // Who names no type sends no body; a type that is named must be right all the same.
      if (request.headers["content-type"] !== undefined) acceptedType(operation, request);
      return { type: type as BodyType, value: schema.parse({}) };
    }
    const type = acceptedType(operation, request);
    if (type === "application/x-ndjson") return { type, value: bytes };
    if (type === "multipart/form-data") {
      return readUpload(request.headers["content-type"]!, bytes).then((value) => ({ type, value }));
    }
    return { type, value: check(operation.body![type]!, parseJson(bytes), "body") };
  }

  function work(passage: Passage, body: unknown): void {
    const { caller, exchange, params } = passage;
    // As it is now: a reset may have come while the form was read.
    const organization = world.organizations[caller.organization];
    const query = exchange.url.includes("?") ? check(operation.query, passage.query, "query") : emptyQuery;
    const call = { world, organization, params, query, body } as unknown as Call;
    const { body: reply, json, retryAfter } = handler(call);
    finish(passage, {
      status: operation.status,
      body: reply === null ? null : (json ?? JSON.stringify(reply)),
      headers: retryAfter === undefined ? undefined : { "Retry-After": String(retryAfter) },
    });
  }

  function finish({ exchange, organization, key, claim }: Passage, answer: Answer): void {
    if (key !== null && claim !== null) organization.keys.settle(key, claim, answer);
    exchange.send(answer);
  }
}
