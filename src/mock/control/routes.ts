import { Readable } from "node:stream";
import * as z from "zod";
import { lastMoment, type MovableClock } from "../../clock.ts";
import { ExportAsset } from "../../contract/resources/exports.ts";
import { Product } from "../../contract/resources/products.ts";
import { Model } from "../../contract/resources/tasks.ts";
import { FaultOrder, readFault } from "../faults/fault-order.ts";
import { pageRoutes } from "../page/page-routes.ts";
import {
  AssetOrder,
  CrashOrder,
  KeyOrder,
  ModelId,
  ModelOrder,
  PartId,
  ProductOrder,
} from "../parts/part-orders.ts";
import { putAsset, putCrash, putKey, putModel, putProduct } from "../parts/parts.ts";
import { ApiKeyState, organizationNames } from "../rules/api-keys.ts";
import { parseJsonBody } from "../rules/body.ts";
import { check, checkAll } from "../rules/checks.ts";
import { invalid, Refusal } from "../rules/refusal.ts";
import { MockState, printedState, restoreSnapshot } from "../snapshot/snapshot.ts";
import type { Organization } from "../store/organization.ts";
import type { World } from "../world/world.ts";
import type { ControlRoute } from "./openapi.ts";
import {
  Account,
  AccountOrder,
  Cleared,
  Crash,
  Delivery,
  FaultReport,
  LoggedRequest,
  Now,
} from "./replies.ts";

type Params = Parameters<ControlRoute["work"]>[2];

export type { ControlRoute };

const ClockMove = z.strictObject({ advance_ms: z.int().min(0) });

/** A `PUT` of an object that is created, or changed; 400 with every problem at once. */
function part<Order extends z.ZodType>(
  path: string,
  summary: string,
  schemas: { id: z.ZodType; body: Order; reply: z.ZodType },
  put: (world: World, id: string, order: z.output<Order>) => unknown,
): ControlRoute {
  const name = /\{(\w+)\}$/.exec(path)![1]!;
  const { id, body, reply } = schemas;
  return {
    method: "PUT",
    path,
    summary,
    body,
    reply,
    work: (world, bytes, params) => {
      const whole = z.strictObject({ [name]: id });
      checkAll(whole, { [name]: params[name] }, "path");
      // An empty body creates the object with defaults.
      return put(
        world,
        params[name]!,
        checkAll(body, bytes.length === 0 ? {} : parseJsonBody(bytes), "body"),
      );
    },
  };
}

/** All control routes. */
export const controlRoutes: readonly ControlRoute[] = [
  {
    method: "GET",
    path: "/_mock/openapi.json",
    summary: "Get this document",
    reply: null,
    work: async (world) => {
      // Loaded for the first reader: most mocks have none.
      const { controlDocument } = await import("./openapi.ts");
      return controlDocument([...controlRoutes, ...pageRoutes], world.baseUrl);
    },
  },
  {
    method: "POST",
    path: "/_mock/clock",
    summary: "Move the clock forward and run what became due",
    body: ClockMove,
    reply: Now,
    work: async (world, body) => {
      const { advance_ms } = check(ClockMove, parseJsonBody(body), "body");
      if (advance_ms > 0 && world.clock.now() + advance_ms > lastMoment) {
        throw invalid("too far: expiration times would pass the year 9999", "advance_ms");
      }
      await moveClock(world, advance_ms);
      return { now: world.timestamp() };
    },
  },
  {
    method: "POST",
    path: "/_mock/faults",
    summary: "Add a fault",
    body: FaultOrder,
    reply: FaultReport,
    work: (world, body) => world.faults.add(readFault(parseJsonBody(body)), world.secret),
  },
  {
    method: "GET",
    path: "/_mock/faults",
    summary: "List the faults",
    reply: z.array(FaultReport),
    work: (world) => world.faults.list(),
  },
  {
    method: "DELETE",
    path: "/_mock/faults",
    summary: "Remove all faults",
    reply: Cleared,
    work: (world) => ({ cleared: world.faults.clear() }),
  },
  {
    method: "DELETE",
    path: "/_mock/faults/{fault_id}",
    summary: "Remove one fault",
    reply: Cleared,
    work: (world, _body, { fault_id }) => {
      if (!world.faults.remove(Number(fault_id))) throw new Refusal("route_not_found", "fault not found");
      return { cleared: 1 };
    },
  },
  {
    method: "POST",
    path: "/_mock/reset",
    summary: "Return to the start; the clock stays",
    reply: Now,
    work: (world) => {
      world.reset();
      return { now: world.timestamp() };
    },
  },
  {
    method: "GET",
    path: "/_mock/state",
    summary: "Get the complete state",
    reply: MockState,
    work: (world) => Readable.from(printedState(world)),
  },
  {
    method: "PUT",
    path: "/_mock/state",
    summary: "Replace the complete state",
    body: MockState,
    reply: Now,
    work: (world, body) => {
      restoreSnapshot(world, check(MockState, parseJsonBody(body), "body"));
      return { now: world.timestamp() };
    },
  },
  {
    method: "GET",
    path: "/_mock/requests",
    summary: "List the latest requests, newest last",
    reply: z.array(LoggedRequest),
    work: (world) => world.log.list(),
  },
  // Without a name in the path, the account of the first organization.
  ...["/_mock/account", "/_mock/account/{organization}"].flatMap((path): ControlRoute[] => [
    {
      method: "GET",
      path,
      summary: "Get the credits of an organization",
      reply: Account,
      work: (world, _body, params) => toAccount(organizationIn(world, params)),
    },
    {
      method: "POST",
      path,
      summary: "Set the credits of an organization",
      body: AccountOrder,
      reply: Account,
      work: (world, body, params) => {
        const organization = organizationIn(world, params);
        organization.credits = check(AccountOrder, parseJsonBody(body), "body").credits;
        return toAccount(organization);
      },
    },
  ]),
  {
    method: "GET",
    path: "/_mock/deliveries",
    summary: "List webhook deliveries, newest last",
    reply: z.array(Delivery),
    work: (world) => world.deliveries.list(),
  },
  {
    method: "POST",
    path: "/_mock/deliveries/{delivery_id}/resend",
    summary: "Deliver once more",
    reply: Delivery,
    work: (world, _body, { delivery_id }) => world.deliveries.resend(delivery_id!),
  },
  {
    method: "GET",
    path: "/_mock/keys",
    summary: "List the API keys",
    reply: z.array(ApiKeyState),
    work: (world) => world.keys.list(),
  },
  part(
    "/_mock/keys/{key}",
    "Add an API key, or change or revoke one",
    { id: ApiKeyState.shape.key, body: KeyOrder, reply: ApiKeyState },
    putKey,
  ),
  part(
    "/_mock/products/{product_id}",
    "Add a product, by default one of the dashboard, or change one",
    { id: PartId, body: ProductOrder, reply: Product },
    putProduct,
  ),
  part(
    "/_mock/assets/{image_id}",
    "Add an asset to a product, or change one",
    { id: PartId, body: AssetOrder, reply: ExportAsset },
    putAsset,
  ),
  part(
    "/_mock/models/{model_id}",
    "Add a model, or change one",
    { id: ModelId, body: ModelOrder, reply: Model },
    putModel,
  ),
  part(
    "/_mock/idempotency-keys/{idempotency_key}",
    "Mark an idempotency key as that of a request which crashed now",
    { id: Crash.shape.key, body: CrashOrder, reply: Crash },
    putCrash,
  ),
];

const toAccount = ({ name, credits }: Organization) => ({ organization: name, credits });

function organizationIn(world: World, { organization = "main" }: Params): Organization {
  const name = organizationNames.find((known) => known === organization);
  if (name === undefined) throw new Refusal("route_not_found", "organization not found");
  return world.organizations[name];
}

/** Longest real wait of one move: enough for a handler that hangs through the complete schedule. */
const patienceMs = 90_000;

/**
 * Moves the clock forward and waits for the outgoing requests that become due: deliveries and images of
 * imports. The clock stops at every moment at which something is due, so that several retries within one move
 * each have their own time. Deliveries already in flight are not awaited: the handler of one may have
 * requested the move, and would wait for itself.
 */
export async function moveClock(world: World, ms: number): Promise<void> {
  const { clock, workInProgress, network } = world;
  const after = workInProgress.lastMark;
  const latest = network.time.now() + patienceMs;
  for (let remaining = ms; ; ) {
    const due = clock.nextDue();
    // A duration, not a moment, because a ticking clock moves on meanwhile.
    const step = due === null ? remaining : Math.min(remaining, Math.max(0, due - clock.now()));
    advance(clock, step);
    remaining -= step;
    const isIdle = await workInProgress.idle({ after, time: network.time, latest });
    if (!isIdle) advance(clock, remaining);
    if (!isIdle || remaining <= 0) return;
  }
}

/** Advances at most to the last moment, because a ticking clock may have come close to it meanwhile. */
const advance = (clock: MovableClock, ms: number): void =>
  clock.advance(Math.min(ms, Math.max(0, lastMoment - clock.now())));
