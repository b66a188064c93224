import { test } from "vitest";
import { type Control, controls } from "../../soak/generate/controls.ts";
import { generateSoak } from "../../soak/generate/generate-soak.ts";
import { onlyLostResponse } from "../../soak/generate/lost-response.ts";
import { type Scenario, scenarioOf } from "../../soak/generate/scenario.ts";
import type { Played } from "../../soak/played.ts";
import type { Patch } from "../../soak/program-files.ts";
import { playAll } from "../../soak/soak.ts";
import { repetitions } from "../support/repetitions.ts";
import { needsBuild } from "../support/spawn-cat.ts";

/** A short part of `npm run soak:generate`: real processes that are stopped, and a real service with faults. */
const patience = { timeout: repetitions(300_000, 1_800_000) };

const scenarios = repetitions(1, 12);

/** Tasks of the sped-up service end at once, so that most of a run would be waiting for the next poll. */
const quickPolling: Patch = {
  file: "src/contract/limits.ts",
  from: "jobPollSeconds: 5,",
  to: "jobPollSeconds: 0.3,",
};

test.concurrent(
  "runs that are stopped again and again queue each image once",
  patience,
  async ({ expect }) => {
    const small = smallScenarios(scenarios);
    const played = await playedOf([...small, onlyLostResponse(small[0]!)], null);
    expect(played.flatMap(({ seed, faults }) => faults.map((fault) => ({ seed, ...fault })))).toEqual([]);
    expect(played).toHaveLength(scenarios + 1);
  },
);

test.concurrent("a new key for a batch whose response was lost is detected", patience, async ({ expect }) => {
  const [played] = await playedOf(smallScenarios(1).map(onlyLostResponse), "new-key");
  expect(played!.faults.map(({ kind }) => kind)).toContain("queued twice");
});

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
    patches: [quickPolling, ...(control === null ? [] : [controls[control]])],
    onPlayed: (one) => played.push(one),
  });
  return played;
}
