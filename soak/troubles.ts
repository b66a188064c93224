import type { FaultOrder } from "../src/mock/faults/faults.ts";
import type { Random } from "../src/mock/seed/random.ts";
import type { Focus } from "./scenario.ts";
import type { Step } from "./step.ts";

/** When a process is killed: some time after its start, or at the n-th request of a step, or of all (null). */
export type KillPoint =
  | { readonly afterMs: number }
  | { readonly step: Step | null; readonly nth: number; readonly at: Moment; readonly waitMs: number };

/**
 * How far that request is: its body is arriving; it has arrived and goes no further, or goes on `waitMs` later all the
 * same; the service has done its work and no answer, or half of it, comes back; the whole answer came `waitMs` before.
 */
export const moments = ["arriving", "arrived", "late", "done", "half answered", "answered"] as const;
export type Moment = (typeof moments)[number];

/** What goes wrong with one process. */
export interface Trouble {
  readonly kill: KillPoint;
  /** Whether a process that does not come to that point is killed while it reads results, if it does. */
  readonly orAtItsEnd: boolean;
  /** Faults that the service is given. */
  readonly faults: readonly FaultOrder[];
  /** Requests of that step of which the work is done and the answer is a 500: so many. */
  readonly failsAfterWork: { readonly step: Step; readonly times: number } | null;
  /** When the service is stopped and started again from its state: so long after the process began, or before it is given again. */
  readonly restart: { readonly afterMs: number } | "between" | null;
}

interface Weights {
  hasPhotos: boolean;
  hasPatches: boolean;
  only: Focus | undefined;
}

const focusSteps: Record<Focus, Step> = {
  uploads: "uploading photos",
  patches: "changing fields",
  calls: "sending calls",
  results: "reading results",
};

export function makeTroubles(random: Random, weights: Weights): Trouble[] {
  const count = random.pick([1, 2, 3, 3, 4]);
  return Array.from({ length: count }, () => ({
    kill: killPoint(random, weights),
    orAtItsEnd: random.next() < 0.4,
    faults: Array.from({ length: random.pick([0, 0, 1, 1, 2]) }, () => random.pick(faults)(random)),
    failsAfterWork:
      random.next() < 0.2
        ? { step: random.pick(["sending calls", "uploading photos", "changing fields"] as const), times: 1 }
        : null,
    restart:
      random.next() < 0.85 ? null : random.next() < 0.5 ? "between" : { afterMs: 150 + random.below(500) },
  }));
}

function killPoint(random: Random, { hasPhotos, hasPatches, only }: Weights): KillPoint {
  const dice = random.next();
  if (dice < 0.15) return { afterMs: random.below(700) };
  const at = { at: random.pick(moments), waitMs: random.pick([0, 1, 3, 10, 30, 120, 400]) };
  // A process that takes up a run may have few steps left.
  if (dice < 0.35) return { step: null, nth: 1 + random.below(6), ...at };
  // Most can go wrong where calls are sent.
  const likely: Step[] = ["sending calls", "sending calls", "sending calls", "sending calls"];
  likely.push("looking for changes", "following jobs", "reading results");
  if (hasPhotos) likely.push("uploading photos", "uploading photos", "uploading photos");
  if (hasPatches) likely.push("changing fields", "changing fields", "changing fields");
  const step = only !== undefined && random.next() < 0.7 ? focusSteps[only] : random.pick(likely);
  return {
    step,
    nth: random.next() < 0.7 ? 1 : 1 + random.below(step === "uploading photos" ? 12 : 4),
    ...at,
  };
}

/** Where a fault may strike, each a path prefix with its method. */
const places = [
  { method: "POST", path: "/v1/imports" },
  { method: "POST", path: "/v1/images" },
  { method: "PATCH", path: "/v1/products" },
  { method: "GET", path: "/v1/imports" },
  { method: "GET", path: "/_signed" },
  { method: "GET", path: "/v1" },
] as const;

const faults: readonly ((random: Random) => FaultOrder)[] = [
  (random) => ({ match: random.pick(places), drop: "before", times: 1 + random.below(2) }),
  (random) => ({ match: random.pick(places), drop: "after", times: 1 + random.below(2) }),
  (random) => ({
    match: random.pick(places),
    status: random.pick([500, 502, 503]),
    times: 1 + random.below(2),
  }),
  // A storm of them: whoever comes is told to come later.
  (random) => ({ match: { path: "/v1" }, status: 429, times: 2 + random.below(5), probability: 0.7 }),
  (random) => ({ match: random.pick(places), truncate: random.below(300), times: 1 + random.below(2) }),
  // Its key counts as running meanwhile: who comes again after a kill gets 409.
  (random) => ({
    match: { method: "POST", path: "/v1/imports" },
    delay_ms: 50 + random.below(900),
    times: 2,
  }),
  (random) => ({ match: random.pick(places), delay_ms: 20 + random.below(300), times: 3 }),
];
