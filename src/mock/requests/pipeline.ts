import type { IncomingHttpHeaders } from "node:http";
import type * as z from "zod";
import { type BodySchemas, type BodyType, mayHaveNoBody, type Operation } from "../../contract/operation.ts";
import type { Operations } from "../../contract/operations.ts";
import { faultResponse, isOfService } from "../faults/fault-response.ts";
import type { RequestFault } from "../faults/faults.ts";
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

/** One operation, with what all its requests share. */
interface Route {
  readonly world: World;
  readonly operation: Operation;
  readonly handler: Handler;
  readonly bodyLimit: number;
  readonly mayBeEmpty: boolean;
  /** Most requests have no query, so an empty one is parsed once. */
  readonly emptyQuery: unknown;
}

/** Serves one operation: form, API key, rate limit, scope, body, idempotency, faults, checks, work. */
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
      rejectMalformed(request);
      const caller = authenticate(world.keys, request.headers.authorization, exchange.at);
      const organization = world.organizations[caller.organization];
      exchange.rate = organization.rate.take(world.options.rateLimit, exchange.isRead, exchange.at);
      // Before the idempotency key: a stored response is only for keys with the scope.
      authorize(caller, operation.scope);
      new Passage(route, exchange, organization, { params, query }).begin();
    } catch (error) {
      exchange.fail(error);
    }
  };
}

/** The parameters of the path, and the query, as sent. */
type Input = { readonly params: unknown; readonly query: unknown };

/** A request that may use the operation, on its way to the response. */
class Passage {
  readonly #route: Route;
  readonly #exchange: Exchange;
  readonly #organization: Organization;
  readonly #input: Input;
  #bytes: Buffer = noBytes;
  #key: string | null = null;
  /** The record of the idempotency key, once claimed. */
  #claim: KeyRecord | null = null;
  #fault: RequestFault | null = null;

  constructor(route: Route, exchange: Exchange, organization: Organization, input: Input) {
    this.#route = route;
    this.#exchange = exchange;
    this.#organization = organization;
    this.#input = input;
  }

  /** GET requests are not tracked (Cross-cutting rule 1); a body is ignored. */
  begin(): void {
    const exchange = this.#exchange;
    const { operation, bodyLimit } = this.#route;
    if (operation.method === "GET") {
      this.#hold();
      return;
    }
    this.#key = parseIdempotencyKey(exchange.request.headers);
    readBody(exchange.request, bodyLimit, (outcome) => {
      if (outcome !== null) exchange.received(outcome);
      // The fingerprint of an oversized body is unknown, so its response is not stored.
      if (outcome instanceof Rejection) return exchange.fail(outcome);
      if (outcome === null) return;
      this.#bytes = outcome;
      this.#hold();
    });
  }

  /** Claims the idempotency key and waits for latency and delay; then the request is in flight. */
  #hold(): void {
    const exchange = this.#exchange;
    const { world } = this.#route;
    try {
      const stored = this.#claimKey();
      let { latencyMs: wait } = world.options;
      if (!world.faults.none) {
        this.#fault = world.faults.ofRequest(exchange.method, exchange.url, stored !== null);
        if (this.#fault !== null) exchange.hitBy(this.#fault.ids);
        wait += this.#fault?.delayMs ?? 0;
      }
      if (stored !== null) {
        if (!this.#cutBefore()) exchange.send(stored, true);
      } else if (wait === 0) this.#run();
      else world.hold(world.clock.now() + wait, () => this.#run());
    } catch (error) {
      exchange.fail(error);
    }
  }

  /** The stored response, if the request is a repeat of a finished one. */
  #claimKey(): FullResponse | null {
    if (this.#key === null) return null;
    const { method, url } = this.#exchange;
    const fingerprint = toFingerprint(method, url, this.#bytes);
    this.#claim = this.#organization.keys.claim(this.#key, fingerprint, this.#route.world.clock.now());
    return this.#claim.answer;
  }

  /** Cuts the connection if a fault says so, and releases the key. A cut of the response only gets noted. */
  #cutBefore(): boolean {
    const fault = this.#fault;
    if (fault === null || fault.cut === null) return false;
    if (fault.cut !== "before") {
      this.#exchange.lost = typeof fault.cut === "number" ? fault.cut : "all";
      return false;
    }
    if (this.#key !== null && this.#claim?.answer === null)
      this.#organization.keys.release(this.#key, this.#claim);
    this.#exchange.cut();
    return true;
  }

  #run(): void {
    const { operation } = this.#route;
    try {
      if (this.#fault !== null) {
        if (this.#cutBefore()) return;
        const { reply } = this.#fault;
        if (reply !== null) {
          this.#finish(faultResponse(reply, operation));
          return;
        }
      }
      const body = operation.body === undefined ? null : this.#parseBody();
      if (body instanceof Promise)
        body.then((form) => this.#work(form)).catch((error) => this.#finish(responseFor(error)));
      else this.#work(body);
    } catch (error) {
      this.#finish(responseFor(error));
    }
  }

  /** Parses and checks the body for the handler. Only a form is asynchronous. */
  #parseBody() {
    const { operation, mayBeEmpty } = this.#route;
    const { request } = this.#exchange;
    const bytes = this.#bytes;
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

  #work(body: unknown): void {
    const { world, operation, handler, emptyQuery } = this.#route;
    const { params } = this.#input;
    // Fetch the organization again: the mock may have been reset while the form was read.
    const organization = world.organizations[this.#organization.name];
    const { url, request } = this.#exchange;
    const query = url.includes("?") ? check(operation.query, this.#input.query, "query") : emptyQuery;
    const { headers } = request;
    const call = { world, organization, params, query, body, headers } as unknown as Call;
    const { body: reply, json, retryAfter } = handler(call);
    this.#finish({
      status: operation.status,
      body: reply === null ? null : (json ?? JSON.stringify(reply)),
      headers: retryAfter === undefined ? undefined : { "Retry-After": String(retryAfter) },
    });
  }

  #finish(response: FullResponse): void {
    const { keys } = this.#organization;
    if (this.#key !== null && this.#claim !== null) {
      if (this.#fault?.cut === "crash") this.#claim.crashed = true;
      else if (isOfService(response)) keys.settle(this.#key, this.#claim, response);
      else keys.release(this.#key, this.#claim);
    }
    this.#exchange.send(response);
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
