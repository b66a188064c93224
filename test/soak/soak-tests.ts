import type { Played } from "../../soak/played.ts";
import type { Patch } from "../../soak/program-files.ts";
import { playAll, type Soak } from "../../soak/soak.ts";
import { needsBuild } from "../support/spawn-cat.ts";

/** A scenario that takes seconds can take minutes on a busy machine. */
export const patience = { timeout: 1_800_000 };

/** The first scenarios that suit. */
export function firstScenarios<Scenario>(
  count: number,
  { scenarioOf }: Pick<Soak<Scenario, never>, "scenarioOf">,
  suits: (scenario: Scenario) => boolean,
): Scenario[] {
  const found: Scenario[] = [];
  for (let at = 0; found.length < count; at++) {
    const scenario = scenarioOf(`test ${at}`, undefined);
    if (suits(scenario)) found.push(scenario);
  }
  return found;
}

/** Plays the scenarios three at a time, with the built program changed by the patches. */
export async function played<Scenario, Step extends string>(
  soak: Pick<Soak<Scenario, Step>, "stepOf" | "play">,
  scenarios: readonly Scenario[],
  patches: readonly Patch[],
): Promise<Played[]> {
  needsBuild();
  const results: Played[] = [];
  await playAll(soak, {
    scenarios,
    lanes: Math.min(3, scenarios.length),
    patches,
    onPlayed: (result) => results.push(result),
  });
  return results;
}

/** What was wrong, with the seed that repeats it. */
export const faultsOf = (results: readonly Played[]) =>
  results.flatMap(({ seed, faults }) => faults.map((fault) => ({ seed, ...fault })));
