import type { Soak } from "../soak.ts";
import { faultKinds } from "./compare.ts";
import { type Control, controls } from "./controls.ts";
import { play } from "./play.ts";
import { type Focus, focuses, type Scenario, scenarioOf } from "./scenario.ts";
import { type Step, stepOf, steps } from "./step.ts";
import { underControl } from "./under-control.ts";

/** Try-ons and beautified shots that are disturbed: each image is queued once. */
export const generateSoak: Soak<Scenario, Step> = {
  script: "soak:generate",
  runs: 300,
  steps,
  stepOf,
  faultKinds,
  focuses,
  controls,
  underControl: (scenario, control) => underControl(scenario, control as Control),
  scenarioOf: (seed, only) => scenarioOf(seed, only as Focus | undefined),
  play,
};
