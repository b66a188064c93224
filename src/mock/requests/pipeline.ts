import type { IncomingHttpHeaders } from "node:http";
import type * as z from "zod";
import { type BodySchemas, type BodyType, mayHaveNoBody, type Operation } from "../../contract/operation.ts";
import type { Operations } from "../../contract/operations.ts";
import { faultResponse, isOfService } from "../faults/fault-response.ts";
import type { RequestFault } from "../faults/faults.ts";
import { SeenRequest } from "../faults/matching.ts";
import { readUpload } from "../images/upload.ts";
import { authenticate, authorize } from "../rules/api-keys.ts";
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

interface Route {
  readonly world: World;
  readonly operation: Operation;
  readonly handler: Handler;
  readonly bodyLimit: number;
  readonly mayBeEmpty: boolean;
  /** Most requests have no query, so an empty one is parsed once. */
  readonly emptyQuery: unknown;
}

/** Serves one operation: form, API key, rate limit, scope, body, idempotency key, faults, checks, work. */
export function serve(world: World, operation: Operation, handler: Handler): Serve {
  const route: Route = {
    world,
    operation,
    handler,
    bodyLimit: maxBodyBytes(operation),
    mayBeEmpty: mayHaveNoBody(operation),
    emptyQuery: operation.query.parse({}),
  };
  return (request, response, params, query) => {
    const exchange = new Exchange(world, request, response);
    try {
      const organization = admit(route, exchange);
      const arrival: Arrival = { route, exchange, organization, params, query };
      // GET requests are not tracked (Cross-cutting rule 1); a body is ignored.
      if (operation.method === "GET") return begin(arrival, null, noBytes);
      const key = parseIdempotencyKey(request.headers);
      readBody(request, route.bodyLimit, (body) => {
        exchange.received(body);
        // The fingerprint of an oversized body is unknown, so its response is not stored.
        if (body instanceof Rejection) exchange.fail(body);
        else begin(arrival, key, body);
      });
    } catch (error) {
      exchange.fail(error);
    }
  };
}

/** A request that may use the operation, with the parameters of its path and its query as sent. */
interface Arrival {
  readonly route: Route;
  readonly exchange: Exchange;
  readonly organization: Organization;
  readonly params: unknown;
  readonly query: unknown;
}

/** A request in flight: with its body, the record of its idempotency key, and the faults that act on it. */
interface InFlight extends Arrival {
  readonly bytes: Buffer;
  readonly record: KeyRecord | null;
  readonly fault: RequestFault | null;
}

/** The organization of a request that is well-formed, within its rate limit, and has the scope. */
function admit({ world, operation }: Route, exchange: Exchange): Organization {
  rejectMalformed(exchange.request);
  const caller = authenticate(world.keys, exchange.request.headers.authorization, exchange.at);
  const organization = world.organizations[caller.organization];
  exchange.rate = organization.rate.count(world.options.rateLimit, exchange.isRead, exchange.at);
  // Before the idempotency key: a stored response is only for keys with the scope.
  authorize(caller, operation.scope);
  return organization;
}

/** Claims the idempotency key, and runs the request after its latency and delay. */
function begin(arrival: Arrival, key: string | null, bytes: Buffer): void {
  const { route, exchange, organization, params, query } = arrival;
  const { world } = route;
  const { method, url } = exchange;
  try {
    const record =
      key === null
        ? null
        : organization.keys.claim(key, toFingerprint(method, url, bytes), world.clock.now());
    const isReplay = record !== null && record.answer !== null;
    const fault = world.faults.none
      ? null
      : world.faults.ofRequest(new SeenRequest(method, url, exchange.request.headers, bytes), isReplay);
    if (fault !== null) exchange.hitBy(fault.ids);
    const request: InFlight = { route, exchange, organization, params, query, bytes, record, fault };
    const wait = world.options.latencyMs + (fault?.delayMs ?? 0);
    if (isReplay) replay(request, record.answer!);
    else if (wait === 0) run(request);
    else world.hold(world.clock.now() + wait, () => run(request));
  } catch (error) {
    exchange.fail(error);
  }
}

function replay(request: InFlight, stored: FullResponse): void {
  if (!cutBefore(request)) request.exchange.send(stored, true);
}

function run(request: InFlight): void {
  if (cutBefore(request)) return;
  try {
    const response = respond(request);
    if (response instanceof Promise)
      response.catch(responseFor).then((response) => finish(request, response));
    else finish(request, response);
  } catch (error) {
    finish(request, responseFor(error));
  }
}

/** Cuts the connection if a fault says so, and releases the key. A cut of the response only gets noted. */
function cutBefore({ exchange, organization, record, fault }: InFlight): boolean {
  if (fault === null || fault.cut === null) return false;
  if (fault.cut !== "before") {
    exchange.lost = typeof fault.cut === "number" ? fault.cut : "all";
    return false;
  }
  if (record?.answer === null) organization.keys.release(record);
  exchange.cut();
  return true;
}

/** The response of a fault, or of the work. Only a form is asynchronous. */
function respond(request: InFlight): FullResponse | Promise<FullResponse> {
  const { operation } = request.route;
  if (request.fault !== null && request.fault.reply !== null)
    return faultResponse(request.fault.reply, operation);
  const body = operation.body === undefined ? null : parseBody(request);
  return body instanceof Promise ? body.then((form) => work(request, form)) : work(request, body);
}

function parseBody({ route: { operation, mayBeEmpty }, exchange: { request }, bytes }: InFlight) {
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

function work(request: InFlight, body: unknown): FullResponse {
  const { route, exchange, params } = request;
  const { world, operation, handler, emptyQuery } = route;
  const { headers } = exchange.request;
  const query = exchange.url.includes("?") ? check(operation.query, request.query, "query") : emptyQuery;
  // Fetch the organization again: the mock may have been reset while the form was read.
  const organization = world.organizations[request.organization.name];
  const call = { world, organization, params, query, body, headers } as unknown as Call;
  const { body: reply, json, retryAfter } = handler(call);
  return {
    status: operation.status,
    body: reply === null ? null : (json ?? JSON.stringify(reply)),
    headers: retryAfter === undefined ? undefined : { "Retry-After": String(retryAfter) },
  };
}

function finish({ exchange, organization: { keys }, record, fault }: InFlight, response: FullResponse): void {
  if (record !== null) {
    if (fault?.cut === "crash") record.crashed = true;
    else if (isOfService(response)) keys.complete(record, response);
    else keys.release(record);
  }
  exchange.send(response);
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
