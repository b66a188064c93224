import type { Soak } from "../soak.ts";
import { type Control, controls, smallLimits } from "./controls.ts";
import { faultKinds, play } from "./play.ts";
import { type Focus, focuses, type Scenario, scenarioOf } from "./scenario.ts";
import { type Step, stepOf, steps } from "./step.ts";
import { underControl } from "./under-control.ts";

/** Exports that are disturbed: the files are those of an uninterrupted run. */
export const exportSoak: Soak<Scenario, Step> = {
  script: "soak:export",
  // A run has 1.5 to 1.8 kills: more than 300.
  runs: 230,
  steps,
  stepOf,
  faultKinds,
  focuses,
  patches: smallLimits,
  controls,
  underControl: (scenario, control) => underControl(scenario, control as Control),
  scenarioOf: (seed, only) => scenarioOf(seed, only as Focus | undefined),
  play,
};
