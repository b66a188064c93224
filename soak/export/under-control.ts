import type { DiskFault } from "../trouble.ts";
import type { Control } from "./controls.ts";
import {
  type ExportTrouble,
  type LaterRun,
  type Mode,
  type Scenario,
  scenarioOf,
  undisturbed,
} from "./scenario.ts";

/** The first process is killed while it has half of an artifact. */
const cutDownload: ExportTrouble = {
  ...undisturbed,
  kill: { step: "downloading", nth: 1, at: "half answered", waitMs: 400 },
};

/** The requests for a job are passed on, and a gateway responds to all of their attempts. */
const lostInGateway: ExportTrouble = {
  ...undisturbed,
  gateway: { step: "creating jobs", status: 403, passesOn: true, times: 10_000 },
};

/** Processes are stopped before later and later steps of a kind: some of them within a batch. */
const stoppedBefore = (step: DiskFault["step"], how: DiskFault["how"]): ExportTrouble[] =>
  [3, 5, 7, 9, 11, 13].map((nth) => ({ ...undisturbed, disk: { step, nth, how } }));

interface Needs {
  /** The kind of export; that of the scenario if it is among several. */
  readonly modes: readonly Mode[];
  readonly troubles?: readonly ExportTrouble[];
  readonly laterRuns?: readonly LaterRun[];
}

const listed = (list: LaterRun["list"]): LaterRun => ({ list, aheadMs: 0, delete: true });

/** What the fault of a control needs to show. */
const needs: Readonly<Record<Control, Needs>> = {
  "rename-first": { modes: ["zip"], troubles: [cutDownload] },
  "trust-gateway": { modes: ["manifest", "zip", "extract"], troubles: [lostInGateway] },
  "believe-lists": { modes: ["sync"], laterRuns: [listed("two thirds"), listed("empty")] },
  "remove-most": { modes: ["sync"], laterRuns: [listed("empty")] },
  "never-sync": { modes: ["sync"], troubles: stoppedBefore("naming", "power cut") },
  "name-first": { modes: ["sync"], troubles: stoppedBefore("naming", "kill") },
  "forget-record": { modes: ["sync"], troubles: stoppedBefore("naming", "kill") },
  "believe-record": { modes: ["sync"], troubles: stoppedBefore("naming", "kill") },
  "keep-unnamed": { modes: ["sync"], troubles: stoppedBefore("syncing", "kill") },
  "late-mark": { modes: ["sync"], laterRuns: [{ list: null, aheadMs: 600_000, delete: false }] },
};

/** The same scenario, in a mode that the control needs, with that trouble alone. */
export function underControl(scenario: Scenario, control: Control): Scenario {
  const { modes, troubles = [], laterRuns = [] } = needs[control];
  const { seed, mode } = scenario;
  const suited = modes.includes(mode) ? scenario : scenarioOf(seed, modes[0]);
  // A list of one product cannot be cut short.
  return { ...suited, photos: [...suited.photos, 1, 2, 1], troubles, laterRuns };
}
