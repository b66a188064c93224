import { type Control, controls, smallLimits } from "../../soak/export/controls.ts";
import { exportSoak } from "../../soak/export/export-soak.ts";
import { type Scenario, scenarioOf } from "../../soak/export/scenario.ts";
import { underControl } from "../../soak/export/under-control.ts";
import type { Played } from "../../soak/played.ts";
import { playAll } from "../../soak/soak.ts";
import { longTest } from "../support/long-test.ts";
import { needsBuild } from "../support/spawn-cat.ts";

/** A short part of `npm run soak:export`: real processes that are killed, and a real service with faults. */
const patience = { timeout: 1_800_000 };

const scenarios = 12;

const mistakes: readonly [mistake: string, control: Control, kind: string][] = [
  // The number of images in the ZIP is checked as well: it stops the run before the cut file has its final name.
  ["a file that has its name before its length is checked", "rename-first", "not resumable"],
  ["a gateway's page that counts as a rejection", "trust-gateway", "not resumable"],
  ["a mirror that believes a list that is cut short", "believe-lists", "wrong files"],
  ["a mirror that an empty list empties", "remove-most", "wrong files"],
  ["changes that are read from too late a time", "late-mark", "wrong files"],
];

longTest.concurrent(
  "exports that are stopped again and again end with complete files",
  patience,
  async ({ expect }) => {
    const undone = mistakes.map(([, control]) => underControl(small(), control));
    const played = await playedOf([...smallScenarios(scenarios), ...undone], null);
    expect(played.flatMap(({ seed, faults }) => faults.map((fault) => ({ seed, ...fault })))).toEqual([]);
    expect(played).toHaveLength(scenarios + undone.length);
  },
);

longTest.concurrent.for(mistakes)("%s is detected", patience, async ([, control, kind], { expect }) => {
  const [played] = await playedOf([underControl(small(), control)], control);
  expect(played!.faults.map((fault) => fault.kind)).toContain(kind);
});

const small = (): Scenario => smallScenarios(1)[0]!;

/** The first scenarios that are small and have several faults. */
function smallScenarios(count: number): Scenario[] {
  const found: Scenario[] = [];
  for (let at = 0; found.length < count; at++) {
    const scenario = scenarioOf(`test ${at}`);
    if (scenario.photos.length <= 8 && scenario.troubles.length === 2) found.push(scenario);
  }
  return found;
}

async function playedOf(some: readonly Scenario[], control: Control | null): Promise<Played[]> {
  needsBuild();
  const played: Played[] = [];
  await playAll(exportSoak, {
    scenarios: some,
    lanes: Math.min(3, some.length),
    patches: [...smallLimits, ...(control === null ? [] : [controls[control]])],
    onPlayed: (one) => played.push(one),
  });
  return played;
}
