import { type Control, controls } from "../../soak/generate/controls.ts";
import { generateSoak } from "../../soak/generate/generate-soak.ts";
import { focuses, type Scenario, scenarioOf } from "../../soak/generate/scenario.ts";
import { underControl } from "../../soak/generate/under-control.ts";
import type { Played } from "../../soak/played.ts";
import { playAll } from "../../soak/soak.ts";
import { longTest } from "../support/long-test.ts";
import { quickProgram } from "../support/quick-program.ts";
import { needsBuild } from "../support/spawn-cat.ts";

/** A short part of `npm run soak:generate`: real processes that are stopped, and a real service with faults. */
const patience = { timeout: 1_800_000 };

const scenarios = 12;

const mistakes: readonly [mistake: string, control: Control, kind: string][] = [
  ["a new key for a batch whose response was lost", "new-key", "queued twice"],
  ["a run that has ended and is begun again", "no-hold", "queued twice"],
  ["a gateway's page that counts as a rejection", "trust-gateway", "not resumable"],
  ["a key that is sent after the machine slept", "old-key", "queued twice"],
  ["a search for tasks by a clock that is ahead", "believe-date", "queued twice"],
  ["an image that two reviews reject and both generate again", "forget-replaced", "queued twice"],
];
longTest.concurrent(
  "runs that are stopped again and again queue each image once",
  patience,
  async ({ expect }) => {
    const undone = mistakes.map(([, control]) => underControl(small(), control));
    const focused = focuses.map((only) => scenarioOf("test", only));
    const some = [...smallScenarios(scenarios), ...undone, ...focused];
    const played = await playedOf(some, null);
    expect(played.flatMap(({ seed, faults }) => faults.map((fault) => ({ seed, ...fault })))).toEqual([]);
    expect(played).toHaveLength(some.length);
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
    if (scenario.looks.length <= 20 && scenario.troubles.length === 2 && !scenario.waitsLater)
      found.push(scenario);
  }
  return found;
}

async function playedOf(some: readonly Scenario[], control: Control | null): Promise<Played[]> {
  needsBuild();
  const played: Played[] = [];
  await playAll(generateSoak, {
    scenarios: some,
    lanes: Math.min(3, some.length),
    patches: [...quickProgram, ...(control === null ? [] : [controls[control]])],
    onPlayed: (one) => played.push(one),
  });
  return played;
}
