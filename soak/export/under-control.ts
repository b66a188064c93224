import type { Control } from "./controls.ts";
import { type ExportTrouble, type LaterRun, type Mode, type Scenario, scenarioOf } from "./scenario.ts";

/** Nothing happens to the process. */
const undisturbed: ExportTrouble = {
  ...{ kill: { step: null, nth: 10_000, at: "arrived", waitMs: 0 }, orAtItsEnd: false, faults: [] },
  ...{ failsAfterWork: null, restart: null, timeout: null },
};

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
