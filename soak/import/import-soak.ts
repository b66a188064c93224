import type { Soak } from "../soak.ts";
import { faultKinds } from "./compare.ts";
import { controls } from "./controls.ts";
import { play } from "./play.ts";
import { type Focus, focuses, type Scenario, scenarioOf } from "./scenario.ts";
import { type Step, stepOf, steps } from "./step.ts";

/** Imports that are disturbed, compared with a model of one that is not. */
export const importSoak: Soak<Scenario, Step> = {
  script: "soak:import",
  runs: 520,
  steps,
  stepOf,
  faultKinds,
  focuses,
  controls,
  scenarioOf: (seed, only) => scenarioOf(seed, only as Focus | undefined),
  play,
};
