import type { MovableClock } from "../../clock.ts";
import type { Network } from "../outgoing/network.ts";
import type { ServedRequest } from "./recorded.ts";
import type { MockState } from "./state.ts";

/** Options of `startMock`. */
export interface MockOptions {
  /** The default, 0, picks a free port. */
  port?: number;
  /** Default: 127.0.0.1. */
  host?: string;
  /** The start of signed URLs and links, for clients that reach the mock elsewhere than it listens. */
  baseUrl?: string;
  /** Hosts, besides this machine, that may use /_mock and receive webhooks, e.g. other containers. */
  allowHosts?: readonly string[];
  /** Clock of all timers, expirations and rate limit windows. Default: the time of this machine. */
  clock?: MovableClock;
  /** The same seed and the same requests give the same IDs and contents, at any time. */
  seed?: number | undefined;
  /** Number of demo products of the first organization at the start. Default: 0. */
  demo?: number;
  /** Factor by which jobs run faster than those of the service. Default: 1. */
  speed?: number;
  /** Requests per minute and organization; false for no limit. Default: 600 reads, 60 writes. */
  rateLimit?: RateLimit;
  /** Delay of every request, in milliseconds. A delayed request counts as in flight. Default: 0. */
  latencyMs?: number;
  /** Rejects webhook URLs on loopback and on allowed hosts, like the service. Default: false. */
  strict?: boolean;
  /** Rejects values and lengths that the specification does not list. Default: true; false takes any. */
  strictSlugs?: boolean;
  /** Fetches the image URLs of imports. Default: draws a picture for each. */
  fetchImages?: boolean;
  /** Keeps the bodies and responses of the last 200 requests, 64 kB each. Default: false. */
  bodies?: boolean;
  /** Sends unknown fields, and new values of open sets, as a later version of the service may. */
  tomorrow?: boolean | undefined;
  /** Called for every request to the service when its response begins, or when its connection is cut. */
  onRequest?: ((request: ServedRequest) => void) | undefined;
  /** State at the start and after a reset, instead of demo products. */
  state?: MockState;
  /** Replaces parts of the network used for webhooks and images, so that a test needs only one machine. */
  network?: Partial<Network>;
}

/** The most requests per minute and organization; false for no limit. */
export type RateLimit =
  | {
      /** GET requests. */
      reads: number;
      /** Other requests. */
      writes: number;
    }
  | false;
