import type { Random } from "../../src/mock/seed/random.ts";
import { type KillPoint, killMoment, restartMoment, someFaults, type Trouble } from "../trouble.ts";
import type { Focus } from "./scenario.ts";
import type { Step } from "./step.ts";

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

export function makeTroubles(random: Random, weights: Weights): Trouble<Step>[] {
  const count = random.pick([1, 2, 3, 3, 4]);
  return Array.from({ length: count }, () => ({
    kill: killPoint(random, weights),
    orAtItsEnd: random.next() < 0.4,
    faults: someFaults(random, places, places[0]),
    failsAfterWork:
      random.next() < 0.2
        ? { step: random.pick(["sending calls", "uploading photos", "changing fields"] as const), times: 1 }
        : null,
    restart: restartMoment(random),
  }));
}

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
  if (hasPatches) likely.push("changing fields", "changing fields", "changing fields");
  const step = only !== undefined && random.next() < 0.7 ? focusSteps[only] : random.pick(likely);
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
  { method: "GET", path: "/v1/imports" },
  { method: "GET", path: "/_signed" },
  { method: "GET", path: "/v1" },
] as const;
