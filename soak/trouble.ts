import type { FaultOrder } from "../src/mock/faults/fault-order.ts";
import type { Random } from "../src/mock/seed/seed.ts";
import type { GatewayPage } from "./gate.ts";

/** How a process is stopped: at once, or asked to stop. */
export type KillSignal = "SIGKILL" | "SIGINT" | "SIGTERM";
/** SIGUSR2: the machine sleeps (asleep.js). */
export type ProgramSignal = KillSignal | "SIGUSR2";

/** When a process is killed: a time after its start, or at the n-th request of a step, or of all (null). */
export type KillPoint<Step extends string> = (
  | { readonly afterMs: number }
  | { readonly step: Step | null; readonly nth: number; readonly at: Moment; readonly waitMs: number }
) & {
  /** SIGKILL unless given. */
  readonly signal?: KillSignal;
};

/**
 * How far that request is: its body is arriving; it has arrived and is held, or passed on `waitMs` later
 * anyway; the service has done its work and no response, or half of it, comes back; the entire response came
 * `waitMs` before.
 */
export const moments = ["arriving", "arrived", "late", "done", "half answered", "answered"] as const;
export type Moment = (typeof moments)[number];

/** The steps of a process that writes files: the transactions of SQLite are those that are recorded. */
export const diskSteps = ["writing", "syncing", "recording", "naming", "removing"] as const;
export type DiskStep = (typeof diskSteps)[number];

/** What happens to a process before its n-th step of a kind, instead of other kills (disk.js). */
export interface DiskFault {
  readonly step: DiskStep;
  readonly nth: number;
  readonly how: "kill" | "power cut" | "full";
}

/** The environment of a process that meets a fault of its disk. */
export const diskEnv = (fault: DiskFault): Record<string, string> => ({
  NODE_OPTIONS: `--import=${new URL("disk.js", import.meta.url).href}`,
  SOAK_DISK: JSON.stringify(fault),
});

/** The steps of a batch of files, more often than the others. */
const killedSteps = [...diskSteps, "syncing", "recording", "naming"] as const;

/** A fault while so many files are written; a disk is full for what it writes. */
export function diskFault(random: Random, files: number): DiskFault {
  const how = random.pick(["kill", "kill", "power cut", "power cut", "full"] as const);
  const step = random.pick(how === "full" ? (["writing", "recording"] as const) : killedSteps);
  const most = { writing: 2 * files, syncing: files, recording: 8, naming: files, removing: 3 }[step];
  // Processes that resume have few files left.
  return { step, nth: 1 + random.below(random.next() < 0.5 ? 3 : most + 6), how };
}

/** The faults of one process. */
export interface Trouble<Step extends string> {
  readonly kill: KillPoint<Step>;
  /** Whether a process that does not reach that point is killed while it reads results. */
  readonly orAtItsEnd: boolean;
  /** Faults that the service gets. */
  readonly faults: readonly FaultOrder[];
  /** The number of requests of that step whose work is done and whose response is a 500. */
  readonly failsAfterWork: { readonly step: Step; readonly times: number } | null;
  /**
   * When the service is stopped and started again from its state: a time after the process started, or before
   * the next one.
   */
  readonly restart: { readonly afterMs: number } | "between" | null;
  /** Requests of a step that a gateway answers in the service's place. */
  readonly gateway?: (GatewayPage & { readonly step: Step; readonly times: number }) | null;
  /** The `Date` of some responses is ahead: from one request of the process to another. */
  readonly skew?: { readonly aheadMs: number; readonly from: number; readonly to: number } | null;
  /** When the same command is started a second time: at once, or a time after a request of that step; else when the first has ended. */
  readonly twice?: { readonly step: Step | null; readonly waitMs: number } | null;
  /**
   * The machine sleeps for that long while a request of this step waits for the rate limit window, whose first attempt
   * lost its response after the work.
   */
  readonly sleep?: { readonly step: Step; readonly nightMs: number } | null;
  /** Another client writes while the first request of this step waits for the rate limit window. */
  readonly overtaken?: { readonly step: Step } | null;
}

/** A gateway's 4xx without the envelope: a few times, or for longer than a process retries. */
export const gatewayTrouble = <Step extends string>(random: Random, steps: readonly Step[]) => ({
  ...{ step: random.pick(steps), status: random.pick([400, 403, 404, 408, 413, 499]) },
  ...{ passesOn: random.next() < 0.7, times: random.pick([1, 1, 2, 50]) },
});

/** Ten minutes, or until the year 2050. */
export const dateSkew = (random: Random): NonNullable<Trouble<string>["skew"]> => {
  const from = random.below(6);
  const aheadMs = random.pick([600_000, Date.UTC(2050, 0) - Date.now()]);
  return { aheadMs, from, to: from + 1 + random.below(12) };
};

/** How far a request may be when its process is killed, and how long after that. */
export const killMoment = (random: Random) => ({
  at: random.pick(moments),
  waitMs: random.pick([0, 1, 3, 10, 30, 120, 400]),
});

export const restartMoment = (random: Random): Trouble<string>["restart"] =>
  random.next() < 0.85 ? null : random.next() < 0.5 ? "between" : { afterMs: 150 + random.below(500) };

/** How processes that pay or write files are stopped: mostly at once. */
const signals: readonly KillSignal[] = ["SIGKILL", "SIGKILL", "SIGKILL", "SIGINT", "SIGTERM"];

/** The shares of kill points that are times, and requests of any step; `inStep` draws the others. */
interface KillWeights<Step extends string> {
  readonly timed: number;
  readonly anyStep: number;
  /** The most requests before a kill at a request of any step. */
  readonly mostRequests: number;
  readonly inStep: () => { readonly step: Step; readonly nth: number };
}

/** Where a process is stopped, by one of several signals. */
export function anyKillPoint<Step extends string>(
  random: Random,
  { timed, anyStep, mostRequests, inStep }: KillWeights<Step>,
): KillPoint<Step> {
  const signal = random.pick(signals);
  const dice = random.next();
  if (dice < timed) return { signal, afterMs: random.below(2_500) };
  const at = { signal, ...killMoment(random) };
  if (dice < timed + anyStep) return { step: null, nth: 1 + random.below(mostRequests), ...at };
  return { ...inStep(), ...at };
}

/** The other faults of a process: `sending` are the requests that must not be repeated, and `work` is their step. */
export const otherFaults = <Step extends string>(
  random: Random,
  { places, sending, work }: { places: readonly Place[]; sending: Place; work: Step },
): Omit<Trouble<Step>, "kill"> => ({
  orAtItsEnd: random.next() < 0.3,
  faults: someFaults(random, places, sending),
  failsAfterWork: random.next() < 0.25 ? { step: work, times: 1 + random.below(3) } : null,
  restart: restartMoment(random),
});

/** Requests that a fault may affect: a method and a path prefix. */
export interface Place {
  readonly method: string;
  readonly path: string;
}

/** Up to two faults of the service, each at one of `places`; `sending` are the requests that must not be repeated. */
export const someFaults = (random: Random, places: readonly Place[], sending: Place): FaultOrder[] =>
  Array.from({ length: random.pick([0, 0, 1, 1, 2]) }, () => random.pick(faults)(random, places, sending));

const faults: readonly ((random: Random, places: readonly Place[], sending: Place) => FaultOrder)[] = [
  (random, places) => ({ match: random.pick(places), drop: "before", times: 1 + random.below(2) }),
  (random, places) => ({ match: random.pick(places), drop: "after", times: 1 + random.below(2) }),
  (random, places) => ({
    match: random.pick(places),
    status: random.pick([500, 502, 503]),
    times: 1 + random.below(2),
  }),
  // A burst of 429.
  (random) => ({ match: { path: "/v1" }, status: 429, times: 2 + random.below(5), probability: 0.7 }),
  (random, places) => ({
    match: random.pick(places),
    truncate: random.below(300),
    times: 1 + random.below(2),
  }),
  // Its key counts as in progress meanwhile: a retry after a kill gets 409.
  (random, _places, sending) => ({ match: sending, delay_ms: 50 + random.below(900), times: 2 }),
  (random, places) => ({ match: random.pick(places), delay_ms: 20 + random.below(300), times: 3 }),
];
