import type { Soak } from "../soak.ts";
import { faultKinds } from "./compare.ts";
import { type Control, controls } from "./controls.ts";
import { play } from "./play.ts";
import { type Focus, focuses, type Scenario, scenarioOf } from "./scenario.ts";
import { type Step, stepOf, steps } from "./step.ts";
import { underControl } from "./under-control.ts";

/** Imports that are disturbed, compared with a model of one that is not. */
export const importSoak: Soak<Scenario, Step> = {
  script: "soak:import",
  runs: 520,
  steps,
  stepOf,
  faultKinds,
  focuses,
  controls,
  underControl: (scenario, control) => underControl(scenario, control as Control),
  scenarioOf: (seed, only) => scenarioOf(seed, only as Focus | undefined),
  play,
};
