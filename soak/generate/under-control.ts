import type { Control } from "./controls.ts";
import { asleep, type GenerateTrouble, type Scenario, scenarioOf, undisturbed } from "./scenario.ts";

/** The one trouble that the fault of a control needs. */
const troubles: Readonly<Record<Control, GenerateTrouble>> = {
  /** Killed after the service has queued the first batch, before the response arrives. */
  "new-key": { ...undisturbed, kill: { step: "queuing", nth: 1, at: "done", waitMs: 0 } },
  /** A gateway passes the first batch on, and responds to all of its attempts. */
  "trust-gateway": {
    ...undisturbed,
    gateway: { step: "queuing", status: 400, passesOn: true, times: 10_000 },
  },
  "old-key": asleep,
  /** The service's clock is ahead until the first batch was sent. */
  "believe-date": { ...asleep, skew: { aheadMs: 600_000, from: 0, to: 10_000 } },
  "forget-replaced": undisturbed,
  "forget-looks": undisturbed,
  /** Killed after the service has queued a batch; then the sheet grows. */
  "drop-unanswered": { ...undisturbed, kill: { step: "queuing", nth: 1, at: "done", waitMs: 0 } },
  "forget-replacement": undisturbed,
  "never-sync": { ...undisturbed, disk: { step: "naming", nth: 1, how: "power cut" } },
  "keep-unnamed": { ...undisturbed, disk: { step: "syncing", nth: 1, how: "kill" } },
};

/** Those that show in a sheet that grows. */
const ofGrown: ReadonlySet<Control> = new Set(["forget-looks", "drop-unanswered", "forget-replacement"]);

/** The same scenario with that trouble alone; a night needs a file of one batch. */
export function underControl(scenario: Scenario, control: Control): Scenario {
  const trouble = troubles[control];
  const { disk } = trouble;
  // Before later and later steps: some of them are within a batch.
  if (disk)
    return {
      ...scenarioOf(scenario.seed, "disk"),
      troubles: [2, 4, 6, 8, 10].map((nth) => ({ ...trouble, disk: { ...disk, nth } })),
    };
  const alone = {
    ...scenario,
    waitsLater: false,
    reruns: control === "forget-replaced",
    later: [],
    growth: [],
  };
  if (ofGrown.has(control))
    return { ...grownScenario(scenario.seed), troubles: [undisturbed], growth: [trouble, undisturbed] };
  return {
    ...(trouble.sleep ? { ...alone, ...scenarioOf(scenario.seed, "sleep") } : alone),
    waitsLater: false,
    troubles: [trouble],
  };
}

/** The first scenario of a seed whose sheet gets several rows, of which none fails. */
function grownScenario(seed: string): Scenario {
  for (let at = 0; ; at++) {
    const scenario = scenarioOf(`${seed} ${at}`, "grown");
    const mayFail = [...scenario.looks, ...scenario.later].some(({ products }) =>
      products.some(({ reference }) => reference.includes("-fail")),
    );
    if (scenario.later.length >= 3 && !mayFail) return { ...scenario, seed, waitsLater: false };
  }
}
