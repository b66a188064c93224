import { Readable } from "node:stream";
import * as z from "zod";
import { lastMoment, type MovableClock } from "../../clock.ts";
import { readFault } from "../faults/fault-order.ts";
import { organizationNames } from "../rules/authenticate.ts";
import { parseJson } from "../rules/body.ts";
import { check } from "../rules/checks.ts";
import { invalid, Refusal } from "../rules/refusal.ts";
import { MockState, printedState, restoreSnapshot } from "../snapshot/snapshot.ts";
import type { Organization } from "../store/organization.ts";
import type { World } from "../world/world.ts";

type Params = Readonly<Record<string, string>>;

/** One route under `/_mock`. */
export interface ControlRoute {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Starts with `/_mock`; parameters are in braces. */
  readonly path: string;
  /** Returns the value of the response, or its JSON as a stream; may throw a `Refusal`. */
  readonly work: (world: World, body: Buffer, params: Params) => unknown;
}

const ClockMove = z.strictObject({ advance_ms: z.int().min(0) });
/** Remaining generations; null for no limit. */
const Account = z.strictObject({ credits: z.int().min(0).nullable() });

/** All control routes. */
export const controlRoutes: readonly ControlRoute[] = [
  {
    method: "POST",
    path: "/_mock/clock",
    work: async (world, body) => {
      const { advance_ms } = check(ClockMove, parseJson(body), "body");
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
    work: (world, body) => {
      const fault = world.faults.add(readFault(parseJson(body)), world.secret);
      if (fault === undefined) throw invalid("too many faults; clear them with DELETE /_mock/faults");
      return fault;
    },
  },
  { method: "GET", path: "/_mock/faults", work: (world) => world.faults.list() },
  { method: "DELETE", path: "/_mock/faults", work: (world) => ({ cleared: world.faults.clear() }) },
  {
    method: "POST",
    path: "/_mock/reset",
    work: (world) => {
      world.reset();
      return { now: world.timestamp() };
    },
  },
  { method: "GET", path: "/_mock/state", work: (world) => Readable.from(printedState(world)) },
  {
    method: "PUT",
    path: "/_mock/state",
    work: (world, body) => {
      restoreSnapshot(world, check(MockState, parseJson(body), "body"));
      return { now: world.timestamp() };
    },
  },
  { method: "GET", path: "/_mock/requests", work: (world) => world.log.list() },
  // Without a name in the path, the account of the first organization.
  ...["/_mock/account", "/_mock/account/{organization}"].flatMap((path): ControlRoute[] => [
    { method: "GET", path, work: (world, _body, params) => toAccount(organizationIn(world, params)) },
    {
      method: "POST",
      path,
      work: (world, body, params) => {
        const organization = organizationIn(world, params);
        organization.credits = check(Account, parseJson(body), "body").credits;
        return toAccount(organization);
      },
    },
  ]),
  { method: "GET", path: "/_mock/deliveries", work: (world) => world.deliveries.list() },
  {
    method: "POST",
    path: "/_mock/deliveries/{delivery_id}/resend",
    work: (world, _body, { delivery_id }) => world.deliveries.resend(delivery_id!),
  },
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
async function moveClock(world: World, ms: number): Promise<void> {
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
