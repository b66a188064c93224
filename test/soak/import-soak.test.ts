import { test } from "vitest";
import { type Control, controls } from "../../soak/import/controls.ts";
import { importSoak } from "../../soak/import/import-soak.ts";
import { type Scenario, scenarioOf } from "../../soak/import/scenario.ts";
import { underControl } from "../../soak/import/under-control.ts";
import type { Played } from "../../soak/played.ts";
import { playAll } from "../../soak/soak.ts";
import { quickProgram } from "../support/quick-program.ts";
import { repetitions } from "../support/repetitions.ts";
import { needsBuild } from "../support/spawn-cat.ts";

/** A short part of `npm run soak:import`: real processes, killed with -9, and a real service with faults. */
const patience = { timeout: repetitions(300_000, 1_800_000) };

const scenarios = repetitions(1, 12);
const undone = "imports that are killed again and again leave the service as one that nothing interrupted";

const mistakes: readonly [mistake: string, control: Control, kind: string][] = [
  ["a new key for a batch whose response was lost", "new-key", "photo doubled"],
  ["an import that forgets its attached photos", "no-ledger", "photo doubled"],
  ["a gateway's page that counts as a rejection", "trust-gateway", "not resumable"],
  ["a key that is sent after the machine slept", "old-key", "photo doubled"],
  ["a run that two processes work on", "no-hold", "photo doubled"],
  ["changes that are read by a clock that was ahead", "believe-date", "row lost"],
];
/** Tried in `npm run test:long`, as a patched program takes as long again. */
const tried = repetitions([], mistakes);

test.concurrent(undone, patience, async ({ expect }) => {
  const some = [...smallScenarios(scenarios), ...tried.map(([, control]) => underControl(small(), control))];
  const played = await playedOf(some, null);
  expect(played.flatMap(({ seed, faults }) => faults.map((fault) => ({ seed, ...fault })))).toEqual([]);
  expect(played).toHaveLength(some.length);
});

test.concurrent.for(tried)("%s is detected", patience, async ([, control, kind], { expect }) => {
  const [played] = await playedOf([underControl(small(), control)], control);
  expect(played!.faults.map((fault) => fault.kind)).toContain(kind);
});

const small = (): Scenario => smallScenarios(1)[0]!;

/** The first scenarios that are small and have several faults. */
function smallScenarios(count: number): Scenario[] {
  const found: Scenario[] = [];
  for (let at = 0; found.length < count; at++) {
    const scenario = scenarioOf(`test ${at}`);
    if (scenario.rows.length <= 40 && scenario.troubles.length >= 3) found.push(scenario);
  }
  return found;
}

async function playedOf(scenarios: readonly Scenario[], control: Control | null): Promise<Played[]> {
  needsBuild();
  const played: Played[] = [];
  await playAll(importSoak, {
    scenarios,
    lanes: Math.min(3, scenarios.length),
    patches: [...quickProgram, ...(control === null ? [] : [controls[control]].flat())],
    onPlayed: (one) => played.push(one),
  });
  return played;
}
