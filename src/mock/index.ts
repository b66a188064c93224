import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { lastMoment, MovableClock, systemClock } from "../clock.ts";
import { limits } from "../contract/limits.ts";
import { exactHost, toListenAddress } from "../contract/url-policy.ts";
import { parseJson } from "../json.ts";
import { withoutEnd } from "../text.ts";
import type { Mock, MockClock, MockFaults } from "./api/mock.ts";
import type { MockOptions } from "./api/options.ts";
import type { MockState } from "./api/state.ts";
import { createApp } from "./app.ts";
import { checkOptions } from "./check-options.ts";
import { AccountOrder } from "./control/replies.ts";
import { moveClock } from "./control/routes.ts";
import { readFault } from "./faults/fault-check.ts";
import { realNetwork } from "./outgoing/network.ts";
import { check } from "./rules/checks.ts";
import { invalid, Rejection } from "./rules/rejection.ts";
import {
  printedState,
  restoreSnapshot,
  type SavedState,
  MockState as StateSchema,
  takeSnapshot,
} from "./snapshot/snapshot.ts";
import { World } from "./world/world.ts";

export type { FaultEffect, FaultMatch, FaultOrder } from "./api/faults.ts";
export type { FaultReport, Mock, MockClock, MockDeliveries, MockFaults } from "./api/mock.ts";
export type { MockOptions, RateLimit } from "./api/options.ts";
export type {
  RecordedBody,
  RecordedDelivery,
  RecordedRequest,
  RecordedResponse,
  ServedRequest,
} from "./api/recorded.ts";
export type * from "./api/state.ts";
export type { Network } from "./outgoing/network.ts";
/** A clock for a mock, for example one that is frozen until a test moves it. */
export { MovableClock };

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
    verify: () => verify(world),
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
  add: (fault) => inCode("faults.add", () => world.faults.add(readFault(asJson(fault)), world.secret)),
  list: () => structuredClone(world.faults.list()),
  remove: (id) => world.faults.remove(id),
  clear: () => world.faults.clear(),
});

/** A copy of a value, as the JSON of a request would be: later changes of the object have no effect. */
function asJson(value: unknown): unknown {
  try {
    return parseJson(JSON.stringify(value) ?? "null");
  } catch (error) {
    throw invalid(`is not JSON: ${(error as Error).message.split("\n", 1)[0]}`);
  }
}

function verify({ faults }: World): void {
  const unmet = faults.unmet();
  if (unmet.length === 0) return;
  const what = unmet.length === 1 ? "1 fault" : `${unmet.length} faults`;
  const lines = unmet.map(({ message }) => `\n  ${message}`);
  throw new Error(`mock.verify: ${what} acted less often than expected${lines.join("")}`);
}

function clockOf(world: World): MockClock {
  const { clock, workInProgress } = world;
  const advance = async (ms: number) => {
    // Checks the time, and moves where nothing is due until then.
    if (!(typeof ms === "number" && ms > 0) || clock.now() + ms > lastMoment) return clock.advance(ms);
    // `settled` waits for a move that nobody awaits; the move does not wait for its own mark.
    const mark = workInProgress.mark();
    await workInProgress.track(moveClock(world, ms), mark);
  };
  const now = () => clock.now();
  let moves = Promise.resolve();
  const real = systemClock();
  return {
    now,
    sleep: (ms, signal) => clock.sleep(ms, signal),
    at: (time, run) => clock.at(time, run),
    advance,
    advanceTo: async (time) => {
      if (typeof time !== "number" && !(time instanceof Date))
        throw new TypeError("mock.clock.advanceTo takes milliseconds since 1970 or a Date");
      await advance(Number(time) - clock.now());
    },
    autoAdvance: {
      now,
      // Limits take real time: the waits of other requests move this clock past them.
      at: (time, run) => real.at(real.now() + Math.max(0, time - now()), run),
      async sleep(ms, signal) {
        signal?.throwIfAborted();
        const due = now() + ms;
        // Responses arrive meanwhile: a wait that is repeated until they do must not starve them.
        await real.sleep(0);
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
  const state = check(StateSchema, value, "state");
  checkedStates.add(state);
  return state;
}

function toInitialState(state: MockState): SavedState {
  if (checkedStates.has(state)) return state as SavedState;
  try {
    return readState(state) as SavedState;
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
