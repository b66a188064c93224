/// <reference lib="esnext.disposable" preserve="true" />
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { type Clock, lastMoment, MovableClock } from "../clock.ts";
import { limits } from "../contract/limits.ts";
import { exactHost, toListenAddress } from "../contract/url-policy.ts";
import { withoutEnd } from "../text.ts";
import { createApp } from "./app.ts";
import { checkOptions } from "./check-options.ts";
import { AccountOrder } from "./control/replies.ts";
import { moveClock } from "./control/routes.ts";
import type { RecordedDelivery } from "./deliveries/delivery.ts";
import { type FaultOrder, readFault } from "./faults/fault-order.ts";
import type { FaultReport } from "./faults/faults.ts";
import { type Network, realNetwork } from "./outgoing/network.ts";
import { check } from "./rules/checks.ts";
import { Rejection } from "./rules/rejection.ts";
import { MockState, printedState, restoreSnapshot, takeSnapshot } from "./snapshot/snapshot.ts";
import type { RecordedRequest, ServedRequest } from "./world/requests.ts";
import { World, type WorldOptions } from "./world/world.ts";

export type { FaultOrder, FaultReport, MockState, Network, RecordedDelivery, RecordedRequest, ServedRequest };
/** A clock for a mock, for example one that is frozen until a test moves it. */
export { MovableClock };

/** Options of `startMock`. */
export interface MockOptions extends Partial<Omit<WorldOptions, "allowHosts" | "begin" | "network">> {
  /** The default, 0, picks a free port. */
  port?: number;
  /** Default: 127.0.0.1. */
  host?: string;
  /** The start of signed URLs and links, for clients that reach the mock elsewhere than it listens. */
  baseUrl?: string;
  /** Hosts, besides this machine, that may use /_mock and receive webhooks, e.g. other containers. */
  allowHosts?: readonly string[];
  /** State at the start and after a reset, instead of demo products. */
  state?: MockState;
  /** Replaces parts of the network used for webhooks and images, so that a test needs only one machine. */
  network?: Partial<Network>;
}

/** The faults of a mock, as in /_mock/faults. */
export interface MockFaults {
  /** Adds a fault and returns it with its number. Throws a TypeError that lists every mistake. */
  add(fault: FaultOrder): FaultReport;
  /** Every fault, with the number of times that it has acted. */
  list(): FaultReport[];
  /** Removes the fault with this number; false if there is none. */
  remove(id: number): boolean;
  /** Removes all faults and returns their number. */
  clear(): number;
}

/** Webhook deliveries, newest last, as in GET /_mock/deliveries. */
export interface MockDeliveries {
  (): RecordedDelivery[];
  /** Delivers once more, and resolves when the attempt has ended. Rejects if the delivery is unknown. */
  resend(id: string): Promise<RecordedDelivery>;
}

/**
 * The time of the mock. A move stops at every moment at which something is due, and waits for what that
 * starts: deliveries arrive, and their retries are scheduled, at their own times. Both moves reject with a
 * TypeError for a time that is invalid or past.
 */
export interface MockClock extends Clock {
  /** Moves forward by milliseconds. */
  advance(ms: number): Promise<void>;
  /** Moves forward to a time, in milliseconds since 1970 or as a Date. */
  advanceTo(time: number | Date): Promise<void>;
  /** The same clock for a client whose waits move it: `createClient({ clock: mock.clock.autoAdvance })`. */
  readonly autoAdvance: Clock;
}

/** A running mock. `await using mock = await startMock()` stops it at the end of the block. */
export interface Mock {
  /** The address on this machine, without `/v1`, e.g. `http://127.0.0.1:4010`. */
  baseUrl: string;
  /** An API key of the first organization with every scope: `ak_mock`, or random for a copy of real data. */
  readonly apiKey: string;
  readonly clock: MockClock;
  /** The latest requests, newest last, API keys masked; with `bodies`, also what was sent and received. */
  requests(): RecordedRequest[];
  deliveries: MockDeliveries;
  faults: MockFaults;
  /**
   * The credits of the first organization: one per generation, null for no limit. Assign a number to set
   * them; anything else throws a TypeError.
   */
  credits: number | null;
  /**
   * Resolves when no delivery attempt and no image download is in flight: what a request of yours started.
   * `clock.advance()` and POST /_mock/clock wait for what they start by themselves.
   */
  settled(): Promise<void>;
  /** A copy of the complete state, as in GET /_mock/state. */
  state(): MockState;
  /** The state as JSON, one line per record. Parse it and pass it to `readState` to load it. */
  printedState(): Uint8Array[];
  /** Restores the state after the start; the clock does not move. */
  reset(): void;
  stop(): Promise<void>;
  /** Stops the mock. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts the mock. Rejects with a TypeError for an invalid option, or if it cannot listen. */
export async function startMock(options: MockOptions = {}): Promise<Mock> {
  const { port = 0, host = "127.0.0.1", baseUrl, ...given } = checkOptions(options);
  const world = createWorld(given);
  const server = createApp(world);
  const stop = async () => {
    world.letThrough();
    world.cancelTimers();
    await new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  };
  await once(server.listen(port, toListenAddress(host)), "listening");
  const { port: listening } = server.address() as AddressInfo;
  const address = `http://${reachable(host)}:${listening}`;
  world.baseUrl = baseUrl === undefined ? address : withoutEnd(baseUrl, /\//);
  try {
    // Not earlier: jobs and deliveries of a loaded state run only once the server can be reached.
    world.reset();
  } catch (error) {
    // An open port would keep the process of a test alive.
    await stop();
    throw error;
  }
  return {
    baseUrl: address,
    get apiKey() {
      return world.keys.first(world.clock.now());
    },
    clock: clockOf(world),
    requests: () => world.log.list(),
    deliveries: Object.assign(() => structuredClone(world.deliveries.list()), {
      resend: async (id: string) => structuredClone(await world.deliveries.resend(id)),
    }),
    faults: faultsOf(world),
    get credits() {
      return world.organizations.main.credits;
    },
    set credits(credits) {
      const order = inCode("credits", () => check(AccountOrder, { credits }, "value"));
      world.organizations.main.credits = order.credits;
    },
    settled: async () => {
      await world.workInProgress.idle();
    },
    state: () => structuredClone(takeSnapshot(world)),
    printedState: () => printedState(world),
    reset: () => world.reset(),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** The world of a mock, empty until its first reset. */
function createWorld({ network, state, ...given }: Omit<MockOptions, "port" | "host" | "baseUrl">): World {
  const allowHosts = new Set(given.allowHosts?.map((name) => exactHost(name)!));
  const initial = state === undefined ? undefined : toInitialState(state);
  return new World({
    clock: new MovableClock(),
    demo: 0,
    speed: 1,
    rateLimit: { reads: limits.readsPerMinute, writes: limits.writesPerMinute },
    latencyMs: 0,
    strict: false,
    strictSlugs: true,
    fetchImages: false,
    bodies: false,
    ...given,
    allowHosts,
    begin: initial && ((world) => restoreSnapshot(world, initial)),
    network: { ...realNetwork({ allowHosts }), ...network },
  });
}

const faultsOf = (world: World): MockFaults => ({
  // A copy, as the JSON of a request would be: later changes of the object have no effect.
  add: (fault) =>
    inCode("faults.add", () =>
      world.faults.add(readFault(JSON.parse(JSON.stringify(fault) ?? "null")), world.secret),
    ),
  list: () => structuredClone(world.faults.list()),
  remove: (id) => world.faults.remove(id),
  clear: () => world.faults.clear(),
});

function clockOf(world: World): MockClock {
  const { clock, workInProgress } = world;
  const advance = async (ms: number) => {
    // Checks the time, and moves where nothing is due until then.
    if (!(ms > 0) || clock.now() + ms > lastMoment) return clock.advance(ms);
    // `settled` waits for a move that nobody awaits; the move does not wait for its own mark.
    const mark = workInProgress.mark();
    await workInProgress.track(moveClock(world, ms), mark);
  };
  const at: Clock["at"] = (time, run) => clock.at(time, run);
  const now = () => clock.now();
  let moves = Promise.resolve();
  return {
    now,
    sleep: (ms, signal) => clock.sleep(ms, signal),
    at,
    advance,
    advanceTo: (time) => advance(Number(time) - clock.now()),
    autoAdvance: {
      now,
      at,
      async sleep(ms, signal) {
        signal?.throwIfAborted();
        const due = now() + ms;
        // One after the other: waits at the same time end together, as without this clock.
        const move = moves.then(() =>
          due > now() && signal?.aborted !== true ? advance(due - now()) : undefined,
        );
        moves = move.catch(() => {});
        await move;
        signal?.throwIfAborted();
      },
    },
  };
}

/** Runs a control that rejects its input, with a TypeError instead of a response. */
function inCode<Result>(name: string, run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    throw new TypeError(`mock.${name}: ${error.message}`, { cause: error });
  }
}

/** States that `readState` has checked. A second check of a large state would be slow. */
const checkedStates = new WeakSet<object>();

/**
 * Checks a parsed JSON document, for use as the `state` option. Throws an error that names the invalid field.
 * The result is not checked again: to change it, start with a copy, which is checked.
 */
export function readState(value: unknown): MockState {
  const state = check(MockState, value, "state");
  checkedStates.add(state);
  return state;
}

function toInitialState(state: MockState): MockState {
  if (checkedStates.has(state)) return state;
  try {
    return readState(state);
  } catch (error) {
    throw new TypeError(`startMock: invalid state: ${(error as Error).message}`, { cause: error });
  }
}

/** The host for a URL. A mock that listens on all addresses is reached by loopback. */
function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}
