import type { IncomingHttpHeaders } from "node:http";
import type * as z from "zod";
import { type BodySchemas, type BodyType, mayHaveNoBody, type Operation } from "../../contract/operation.ts";
import type { Operations } from "../../contract/operations.ts";
import { faultResponse, isOfService } from "../faults/fault-response.ts";
import type { RequestFault } from "../faults/faults.ts";
import { readUpload } from "../images/upload.ts";
import { authenticate, authorize, type Caller } from "../rules/api-keys.ts";
import { acceptedType, maxBodyBytes, parseJsonBody, readBody } from "../rules/body.ts";
import { check } from "../rules/checks.ts";
import {
  type FullResponse,
  type KeyRecord,
  parseIdempotencyKey,
  toFingerprint,
} from "../rules/idempotency.ts";
import { rejectMalformed } from "../rules/malformed.ts";
import { Rejection } from "../rules/rejection.ts";
import type { Organization } from "../store/organization.ts";
import type { World } from "../world/world.ts";
import { Exchange, responseFor } from "./exchange.ts";
import type { Serve } from "./routing.ts";

const noBytes = Buffer.alloc(0);

/** A request in the pipeline, with the results of the steps so far. */
interface Passage {
  readonly exchange: Exchange;
  readonly caller: Caller;
  readonly organization: Organization;
  readonly params: unknown;
  readonly query: unknown;
  bytes: Buffer;
  readonly key: string | null;
  /** The record of the idempotency key, once claimed. */
  claim: KeyRecord | null;
  fault: RequestFault | null;
}

/** Serves one operation: form, API key, rate limit, scope, body, idempotency, faults, checks, work. */
export function serve(world: World, operation: Operation, handler: Handler): Serve {
  const bodyLimit = maxBodyBytes(operation);
  const mayBeEmpty = mayHaveNoBody(operation);
  // Most requests have no query, so parse an empty one once.
  const emptyQuery = operation.query.parse({});

  return (request, response, params, query) => {
    const exchange = new Exchange(world, request, response);
    try {
      rejectMalformed(request);
      const caller = authenticate(world.keys, request.headers.authorization, exchange.at);
      const organization = world.organizations[caller.organization];
      const { rateLimit } = world.options;
      exchange.rate = organization.rate.take(rateLimit, exchange.isRead, exchange.at);
      // Before the idempotency key: a stored response is only for keys with the scope.
      authorize(caller, operation.scope);
      // GET requests are not tracked (Cross-cutting rule 1); a body is ignored.
      const isRead = operation.method === "GET";
      const key = isRead ? null : parseIdempotencyKey(request.headers);
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
      if (outcome !== null) passage.exchange.received(outcome);
      // The fingerprint of an oversized body is unknown, so its response is not stored.
      if (outcome instanceof Rejection) return passage.exchange.fail(outcome);
      if (outcome === null) return;
      passage.bytes = outcome;
      hold(passage);
    });
  }

  /** Claims the idempotency key and waits for latency and delay; then the request is in flight. */
  function hold(passage: Passage): void {
    const { exchange } = passage;
    try {
      const stored = claimKey(passage);
      let { latencyMs: wait } = world.options;
      if (!world.faults.none) {
        passage.fault = world.faults.ofRequest(exchange.method, exchange.url, stored !== null);
        if (passage.fault !== null) exchange.hitBy(passage.fault.ids);
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

  /** Cuts the connection if a fault says so, and releases the key. A cut of the response only gets noted. */
  function cutBefore({ exchange, organization, key, claim, fault }: Passage): boolean {
    if (fault === null || fault.cut === null) return false;
    if (fault.cut !== "before") {
      exchange.lost = typeof fault.cut === "number" ? fault.cut : "all";
      return false;
    }
    if (key !== null && claim?.answer === null) organization.keys.release(key, claim);
    exchange.cut();
    return true;
  }

  /** The stored response, if the request is a repeat of a finished one. */
  function claimKey(passage: Passage): FullResponse | null {
    const { key, exchange, organization, bytes } = passage;
    if (key === null) return null;
    const fingerprint = toFingerprint(exchange.method, exchange.url, bytes);
    passage.claim = organization.keys.claim(key, fingerprint, world.clock.now());
    return passage.claim.answer;
  }

  function run(passage: Passage): void {
    const { fault } = passage;
    try {
      if (fault !== null) {
        if (cutBefore(passage)) return;
        if (fault.reply !== null) {
          finish(passage, faultResponse(fault.reply, operation));
          return;
        }
      }
      const body = operation.body === undefined ? null : parseBody(passage);
      if (body instanceof Promise) {
        body.then((form) => work(passage, form)).catch((error) => finish(passage, responseFor(error)));
      } else {
        work(passage, body);
      }
    } catch (error) {
      finish(passage, responseFor(error));
    }
  }

  /** Parses and checks the body for the handler. Only a form is asynchronous. */
  function parseBody({ exchange: { request }, bytes }: Passage) {
    if (mayBeEmpty && bytes.length === 0) {
      const [type, schema] = Object.entries(operation.body!)[0]!;
      // An empty body needs no content type, but a given one must be right.
      if (request.headers["content-type"] !== undefined) acceptedType(operation, request);
      return { type: type as BodyType, value: schema.parse({}) };
    }
    const type = acceptedType(operation, request);
    if (type === "application/x-ndjson") return { type, value: bytes };
    if (type === "multipart/form-data") {
      return readUpload(request.headers["content-type"]!, bytes).then((value) => ({ type, value }));
    }
    return { type, value: check(operation.body![type]!, parseJsonBody(bytes), "body") };
  }

  function work(passage: Passage, body: unknown): void {
    const { caller, exchange, params } = passage;
    // Fetch the organization again: the mock may have been reset while the form was read.
    const organization = world.organizations[caller.organization];
    const query = exchange.url.includes("?") ? check(operation.query, passage.query, "query") : emptyQuery;
    const { headers } = exchange.request;
    const call = { world, organization, params, query, body, headers } as unknown as Call;
    const { body: reply, json, retryAfter } = handler(call);
    finish(passage, {
      status: operation.status,
      body: reply === null ? null : (json ?? JSON.stringify(reply)),
      headers: retryAfter === undefined ? undefined : { "Retry-After": String(retryAfter) },
    });
  }

  function finish({ exchange, organization, key, claim, fault }: Passage, response: FullResponse): void {
    if (key !== null && claim !== null) {
      if (fault?.cut === "crash") claim.crashed = true;
      else if (isOfService(response)) organization.keys.settle(key, claim, response);
      else organization.keys.release(key, claim);
    }
    exchange.send(response);
  }
}

/** A request body by content type: the output of the schema, or the bytes of NDJSON. */
export type BodyOf<Body extends BodySchemas | undefined> = Body extends BodySchemas
  ? {
      [Type in keyof Body]: {
        type: Type;
        value: Type extends "application/x-ndjson"
          ? Buffer
          : Body[Type] extends z.ZodType
            ? z.output<Body[Type]>
            : never;
      };
    }[keyof Body]
  : null;

/** A request that passed every check: the input of a handler. */
export interface Call<Op extends Operation = Operation> {
  readonly world: World;
  readonly organization: Organization;
  readonly params: z.output<Op["params"]>;
  readonly query: z.output<Op["query"]>;
  readonly body: BodyOf<Op["body"]>;
  readonly headers: IncomingHttpHeaders;
}

/** The success body, or its ready-made JSON, and `Retry-After` in seconds while a job runs. */
export type Result<Op extends Operation = Operation> = (
  | { readonly body: Op["reply"] extends z.ZodType ? z.output<Op["reply"]> : null; readonly json?: never }
  | { readonly json: string; readonly body?: never }
) & { readonly retryAfter?: number | undefined };

/** The work of one operation. Rejects a request by throwing a `Rejection`. */
export type Handler<Op extends Operation = Operation> = (call: Call<Op>) => Result<Op>;

/** One handler per operation of the contract: a missing or extra one does not compile. */
export type Handlers = {
  readonly [Resource in keyof Operations]: {
    readonly [Verb in keyof Operations[Resource]]: Operations[Resource][Verb] extends Operation
      ? Handler<Operations[Resource][Verb]>
      : never;
  };
};
