import { Readable } from "node:stream";
import * as z from "zod";
import { lastMoment, type MovableClock } from "../../clock.ts";
import { ExportAsset } from "../../contract/resources/exports.ts";
import { Product } from "../../contract/resources/products.ts";
import { Model } from "../../contract/resources/tasks.ts";
import { readFault } from "../faults/fault-check.ts";
import { FaultOrder } from "../faults/fault-order.ts";
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
import { invalid, Rejection } from "../rules/rejection.ts";
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
  UnmetFault,
} from "./replies.ts";

type Params = Parameters<ControlRoute["work"]>[2];

const ClockMove = z.strictObject({ advance_ms: z.int().min(0) });

/** A control route; `name` is its method and its path. */
function route(
  name: string,
  summary: string,
  schemas: Pick<ControlRoute, "body" | "reply">,
  work: ControlRoute["work"],
): ControlRoute {
  const [method, path] = name.split(" ") as [ControlRoute["method"], string];
  return { method, path, summary, ...schemas, work };
}

/** A `PUT` of an object that is created, or changed; 400 with every problem at once. */
function part<Order extends z.ZodType>(
  path: string,
  summary: string,
  { id, body, reply }: { id: z.ZodType; body: Order; reply: z.ZodType },
  put: (world: World, id: string, order: z.output<Order>) => unknown,
): ControlRoute {
  const name = /\{(\w+)\}$/.exec(path)![1]!;
  return route(`PUT ${path}`, summary, { body, reply }, (world, bytes, params) => {
    checkAll(z.strictObject({ [name]: id }), { [name]: params[name] }, "path");
    // An empty body creates the object with defaults.
    const order = checkAll(body, bytes.length === 0 ? {} : parseJsonBody(bytes), "body");
    return put(world, params[name]!, order);
  });
}

export const controlRoutes: readonly ControlRoute[] = [
  route("GET /_mock/openapi.json", "Get this document", { reply: null }, async (world) => {
    // Loaded for the first reader: most mocks have none.
    const { controlDocument } = await import("./openapi.ts");
    return controlDocument([...controlRoutes, ...pageRoutes], world.baseUrl);
  }),
  route(
    "POST /_mock/clock",
    "Move the clock forward and run what became due",
    { body: ClockMove, reply: Now },
    async (world, body) => {
      const { advance_ms } = check(ClockMove, parseJsonBody(body), "body");
      if (advance_ms > 0 && world.clock.now() + advance_ms > lastMoment) {
        throw invalid("too far: expiration times would pass the year 9999", "advance_ms");
      }
      await moveClock(world, advance_ms);
      return { now: world.timestamp() };
    },
  ),
  route("POST /_mock/faults", "Add a fault", { body: FaultOrder, reply: FaultReport }, (world, body) =>
    world.faults.add(readFault(parseJsonBody(body)), world.secret),
  ),
  route("GET /_mock/faults", "List the faults", { reply: z.array(FaultReport) }, (world) =>
    world.faults.list(),
  ),
  route("DELETE /_mock/faults", "Remove all faults", { reply: Cleared }, (world) => {
    return { cleared: world.faults.clear() };
  }),
  route("DELETE /_mock/faults/{fault_id}", "Remove one fault", { reply: Cleared }, (world, _, params) => {
    const isRemoved = world.faults.remove(Number(params.fault_id));
    if (!isRemoved) throw new Rejection("route_not_found", "fault not found");
    return { cleared: 1 };
  }),
  route(
    "GET /_mock/verify",
    "List the faults that acted less often than they were set to",
    { reply: z.array(UnmetFault) },
    (world) => world.faults.unmet(),
  ),
  route("POST /_mock/reset", "Return to the start; the clock stays", { reply: Now }, (world) => {
    world.reset();
    return { now: world.timestamp() };
  }),
  route("GET /_mock/state", "Get the complete state", { reply: MockState }, (world) =>
    Readable.from(printedState(world)),
  ),
  route("PUT /_mock/state", "Replace the complete state", { body: MockState, reply: Now }, (world, body) => {
    restoreSnapshot(world, check(MockState, parseJsonBody(body), "body"));
    return { now: world.timestamp() };
  }),
  route(
    "GET /_mock/requests",
    "List the latest requests, newest last",
    { reply: z.array(LoggedRequest) },
    (world) => world.log.list(),
  ),
  // Without a name in the path, the account of the first organization.
  ...["/_mock/account", "/_mock/account/{organization}"].flatMap((path) => [
    route(`GET ${path}`, "Get the credits of an organization", { reply: Account }, (world, _, params) =>
      toAccount(organizationIn(world, params)),
    ),
    route(
      `POST ${path}`,
      "Set the credits of an organization",
      { body: AccountOrder, reply: Account },
      (world, body, params) => {
        const organization = organizationIn(world, params);
        organization.credits = check(AccountOrder, parseJsonBody(body), "body").credits;
        return toAccount(organization);
      },
    ),
  ]),
  route(
    "GET /_mock/deliveries",
    "List webhook deliveries, newest last",
    { reply: z.array(Delivery) },
    (world) => world.deliveries.list(),
  ),
  route(
    "POST /_mock/deliveries/{delivery_id}/resend",
    "Deliver once more",
    { reply: Delivery },
    (world, _, { delivery_id }) => world.deliveries.resend(delivery_id!),
  ),
  route("GET /_mock/keys", "List the API keys", { reply: z.array(ApiKeyState) }, (world) =>
    world.keys.list(),
  ),
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
  if (name === undefined) throw new Rejection("route_not_found", "organization not found");
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
