import type { Soak } from "../soak.ts";
import { controls, smallLimits } from "./controls.ts";
import { afterCutDownload } from "./cut-download.ts";
import { faultKinds, play } from "./play.ts";
import { type Mode, modes, type Scenario, scenarioOf } from "./scenario.ts";
import { type Step, stepOf, steps } from "./step.ts";

/** Exports that are disturbed: the files are those of an uninterrupted run. */
export const exportSoak: Soak<Scenario, Step> = {
  script: "soak:export",
  // A run has 1.5 to 1.8 kills: more than 300.
  runs: 230,
  steps,
  stepOf,
  faultKinds,
  focuses: modes,
  patches: smallLimits,
  controls,
  underControl: afterCutDownload,
  scenarioOf: (seed, only) => scenarioOf(seed, only as Mode | undefined),
  play,
};
