import type { Random } from "../../src/mock/seed/seed.ts";
import {
  dateSkew,
  gatewayTrouble,
  type KillPoint,
  killMoment,
  restartMoment,
  someFaults,
  type Trouble,
} from "../trouble.ts";
import type { Focus } from "./scenario.ts";
import type { Step } from "./step.ts";

interface Weights {
  hasPhotos: boolean;
  hasPatches: boolean;
  only: Focus | undefined;
  /** Whether the same command again sends nothing that is attached. */
  isRepeatable: boolean;
}

const focusSteps: Partial<Record<Focus, Step>> = {
  uploads: "uploading photos",
  patches: "changing fields",
  calls: "sending calls",
  results: "reading results",
};

export function makeTroubles(random: Random, weights: Weights): Trouble<Step>[] {
  const { only, hasPhotos, hasPatches, isRepeatable } = weights;
  if (only === "sleep") return [asleep];
  const count = random.pick([1, 2, 3, 3, 4]);
  const writes: Step[] = ["sending calls", "sending calls"];
  if (hasPhotos) writes.push("uploading photos");
  if (hasPatches) writes.push("changing fields");
  const happens = (focus: Focus) => only === focus || random.next() < 0.12;
  return Array.from({ length: count }, () => ({
    kill: killPoint(random, weights),
    orAtItsEnd: random.next() < 0.4,
    faults: someFaults(random, places, places[0]),
    failsAfterWork:
      random.next() < 0.2
        ? { step: random.pick(["sending calls", "uploading photos", "changing fields"] as const), times: 1 }
        : null,
    restart: restartMoment(random),
    gateway: happens("gateway") ? gatewayTrouble(random, writes) : null,
    skew: happens("skew") ? dateSkew(random) : null,
    twice: isRepeatable && happens("twice") ? secondStart(random) : null,
  }));
}

/** At once, or about when the first process ends. */
const secondStart = (random: Random) => ({
  step: random.pick([null, "sending calls", "reading results", "reading results"] as const),
  waitMs: random.pick([0, 5, 20, 60, 150, 400]),
});

/** The machine sleeps for a day; nothing else happens to the process. */
const asleep: Trouble<Step> = {
  ...{ kill: { step: null, nth: 10_000, at: "arrived", waitMs: 0 }, orAtItsEnd: false, faults: [] },
  ...{ failsAfterWork: null, restart: null, sleep: { step: "sending calls", nightMs: 25 * 3_600_000 } },
};

function killPoint(random: Random, { hasPhotos, hasPatches, only }: Weights): KillPoint<Step> {
  const dice = random.next();
  if (dice < 0.15) return { afterMs: random.below(700) };
  const at = killMoment(random);
  // A process that resumes a run may have few steps left.
  if (dice < 0.35) return { step: null, nth: 1 + random.below(6), ...at };
  // Most faults are possible while batches are sent.
  const likely: Step[] = ["sending calls", "sending calls", "sending calls", "sending calls"];
  likely.push("looking for changes", "following jobs", "reading results");
  if (hasPhotos) likely.push("uploading photos", "uploading photos", "uploading photos");
  if (hasPatches) likely.push("changing fields", "changing fields", "removing photos", "moving photos");
  if (hasPatches && hasPhotos) likely.push("comparing photos");
  const focused = only === undefined ? undefined : focusSteps[only];
  const step = focused !== undefined && random.next() < 0.7 ? focused : random.pick(likely);
  return {
    step,
    nth: random.next() < 0.7 ? 1 : 1 + random.below(step === "uploading photos" ? 12 : 4),
    ...at,
  };
}

/** Possible targets of a fault: path prefixes with their method. */
const places = [
  { method: "POST", path: "/v1/imports" },
  { method: "POST", path: "/v1/images" },
  { method: "PATCH", path: "/v1/products" },
  { method: "DELETE", path: "/v1/products" },
  { method: "POST", path: "/v1/products" },
  { method: "GET", path: "/v1/imports" },
  { method: "GET", path: "/_signed" },
  { method: "GET", path: "/v1" },
] as const;
