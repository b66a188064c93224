import type { AddressInfo } from "node:net";
import { MovableClock } from "../clock.ts";
import { limits } from "../contract/limits.ts";
import { createApp } from "./app.ts";
import { checkOptions } from "./check-options.ts";
import type { RecordedDelivery } from "./deliveries/delivery-record.ts";
import { type Network, realNetwork } from "./outgoing/network.ts";
import { check } from "./rules/checks.ts";
import type { RateLimit } from "./rules/rate-limit.ts";
import { printedState } from "./snapshot/printed-state.ts";
import { MockState, restoreSnapshot, takeSnapshot } from "./snapshot/snapshot.ts";
import type { RecordedRequest } from "./world/request-log.ts";
import { World } from "./world/world.ts";

export type { MockState, Network, RecordedDelivery, RecordedRequest };
/** A clock to start a mock on: one that stands still until it is moved, say. */
export { MovableClock };

/** How a mock is started. */
export interface MockOptions {
  /** 0, the default, takes a free one. */
  port?: number;
  /** 127.0.0.1 unless told. */
  host?: string;
  /** Same seed and same requests: same ids and contents, whenever started. */
  seed?: number | undefined;
  /** How many demo products it starts with; none unless told. */
  demo?: number;
  /** Jobs run this many times faster than the service's. */
  speed?: number;
  /** Requests a minute and organization; the service's 600 and 60 unless told, false for no limit. */
  rateLimit?: { reads: number; writes: number } | false;
  /** All timers, expiries and windows run on it; the machine's time unless told. */
  clock?: MovableClock;
  /** How long every request is held once it counts as running, in milliseconds. */
  latencyMs?: number;
  /** Refuses webhook URLs on loopback, as the service does. */
  strict?: boolean;
  /** Fetches the image URLs of imports instead of drawing a picture for each. */
  fetchImages?: boolean;
  /** What it starts with, and comes back to on a reset, in place of demo products. */
  state?: MockState;
  /** Stands in for parts of the network that webhooks and images are reached by, for tests of what one machine does not have. */
  network?: Partial<Network>;
}

/** A running mock. */
export interface Mock {
  /** Without `/v1`, e.g. `http://127.0.0.1:4010`. */
  baseUrl: string;
  /** A key of the first organization with every scope. */
  apiKey: "ak_mock";
  clock: MovableClock;
  /** The last requests, newest last; the machine key is masked. */
  requests(): RecordedRequest[];
  /** What went to webhooks, newest last; the same as GET /_mock/deliveries. */
  deliveries(): RecordedDelivery[];
  /**
   * Resolves when nothing is under way to or from others any more: no attempt of a delivery, no image of an import. After
   * `clock.advance()` wait for it before looking; POST /_mock/clock waits by itself.
   */
  settled(): Promise<void>;
  /** A copy of the whole state, the same as GET /_mock/state. */
  state(): MockState;
  /** The same as JSON, a line for each thing: what `readState` takes once it is parsed. */
  printedState(): Uint8Array[];
  /** Back to the state after the start; the clock stays where it is. */
  reset(): void;
  stop(): Promise<void>;
}

/**
 * Starts the service in memory. Rejects with a TypeError that names an option which cannot be, and when it cannot listen, e.g.
 * with `EADDRINUSE`.
 */
export async function startMock(options: MockOptions = {}): Promise<Mock> {
  checkOptions(options);
  const { port = 0, host = "127.0.0.1", clock = new MovableClock() } = options;
  const { seed = null, demo = 0, speed = 1, latencyMs = 0, strict = false, fetchImages = false } = options;
  const state = stateOf(options);
  const world = new World({
    clock,
    seed,
    demo,
    speed,
    latencyMs,
    strict,
    fetchImages,
    rateLimit: rateLimitOf(options),
    begin: state && ((world) => restoreSnapshot(world, state)),
    network: networkOf(options),
  });
  const app = createApp(world);
  try {
    await app.listen({ port, host });
    const { port: listening } = app.server.address() as AddressInfo;
    world.baseUrl = `http://${reachable(host)}:${listening}`;
    world.begin();
  } catch (error) {
    world.cancelTimers();
    await app.close();
    throw error;
  }
  return {
    baseUrl: world.baseUrl,
    apiKey: "ak_mock",
    clock,
    requests: () => world.log.list(),
    deliveries: () => structuredClone(world.deliveries.list()),
    settled: async () => {
      await world.underway.idle();
    },
    state: () => structuredClone(takeSnapshot(world)),
    printedState: () => printedState(world),
    reset: () => world.reset(),
    stop: async () => {
      world.letThrough();
      world.cancelTimers();
      await app.close();
    },
  };
}

/** What was checked here already: a large state takes its time. */
const checkedStates = new WeakSet<object>();

/**
 * A parsed JSON document as a state to start with. Throws an error that names the field at fault. It is checked once: who changes
 * what it gives starts with a copy, which is checked again.
 */
export function readState(value: unknown): MockState {
  const state = check(MockState, value, "state");
  checkedStates.add(state);
  return state;
}

function stateOf({ state }: MockOptions): MockState | undefined {
  if (state === undefined || checkedStates.has(state)) return state;
  try {
    return readState(state);
  } catch (error) {
    throw new TypeError(`startMock: state is none of this mock: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** What is undefined is not given, as everywhere. */
const networkOf = ({ network = {} }: MockOptions): Network => ({
  ...realNetwork(),
  ...Object.fromEntries(Object.entries(network).filter(([, part]) => part !== undefined)),
});

const rateLimitOf = ({ rateLimit }: MockOptions): RateLimit =>
  rateLimit === false
    ? null
    : (rateLimit ?? { reads: limits.readsPerMinute, writes: limits.writesPerMinute });

/** A host to put in a URL: listening everywhere, the mock is reached at its own machine. */
function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}
