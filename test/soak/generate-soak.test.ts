import { test } from "vitest";
import { type Control, controls } from "../../soak/generate/controls.ts";
import { generateSoak } from "../../soak/generate/generate-soak.ts";
import { type GenerateTrouble, type Scenario, scenarioOf } from "../../soak/generate/scenario.ts";
import type { Played } from "../../soak/played.ts";
import { playAll } from "../../soak/soak.ts";
import { repetitions } from "../support/repetitions.ts";
import { needsBuild } from "../support/spawn-cat.ts";

/** A short part of `npm run soak:generate`: real processes that are stopped, and a real service with faults. */
const patience = { timeout: repetitions(120_000, 1_800_000) };

const scenarios = repetitions(1, 12);

test.concurrent(
  "runs that are stopped again and again queue each image once",
  patience,
  async ({ expect }) => {
    const played = await playedOf([...smallScenarios(scenarios), responseLost()], null);
    expect(played.flatMap(({ seed, faults }) => faults.map((fault) => ({ seed, ...fault })))).toEqual([]);
    expect(played).toHaveLength(scenarios + 1);
  },
);

test.concurrent("a new key for a batch whose response was lost is detected", patience, async ({ expect }) => {
  const [played] = await playedOf([responseLost()], "new-key");
  expect(played!.faults.map(({ kind }) => kind)).toContain("queued twice");
});

const calm: Omit<GenerateTrouble, "kill"> = {
  ...{ orAtItsEnd: false, faults: [], failsAfterWork: null, restart: null, credits: null, timeout: null },
};

/** Killed after the service has queued the first batch, before the response arrives. */
function responseLost(): Scenario {
  const kill = { step: "queuing", nth: 1, at: "done", waitMs: 0 } as const;
  return { ...smallScenarios(1)[0]!, seed: "response lost", troubles: [{ ...calm, kill }] };
}

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
    control: control === null ? null : controls[control],
    onPlayed: (one) => played.push(one),
  });
  return played;
}
