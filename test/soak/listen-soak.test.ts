import { expect, test } from "vitest";
import { controls } from "../../soak/listen/controls.ts";
import { type KillCounts, type KillPlan, killFaults, playKills } from "../../soak/listen/kills.ts";
import { copyProgram } from "../../soak/program-files.ts";
import { repetitions } from "../support/repetitions.ts";
import { catProgram, needsBuild } from "../support/spawn-cat.ts";

/** A short part of `npm run soak:listen`: a real listener that is stopped and killed while events arrive. */
const planned: Omit<KillPlan, "program"> = {
  seed: 1,
  deliveries: repetitions(400, 10_000),
  events: repetitions(100, 1_000),
  concurrency: 16,
  stops: ["SIGKILL", "SIGINT"],
};

async function played(program: string): Promise<{ counts: KillCounts; faults: string[] }> {
  const counts = await playKills({ ...planned, program });
  return { counts, faults: killFaults({ ...planned, program }, counts) };
}

test.concurrent("every event is logged before its response and printed at most once, over kills", async () => {
  needsBuild();
  const { counts, faults } = await played(catProgram);
  expect(faults).toEqual([]);
  expect(counts.printed + counts.loggedBeforeKill).toBe(planned.events);
});

test.concurrent("a listener that responds before the log is written, and does not read it, is detected", async () => {
  needsBuild();
  const { program, remove } = await copyProgram([...controls["respond-first"], ...controls.forget]);
  try {
    const { faults } = await played(program);
    expect(faults).toContain("acknowledged events are missing from the log");
    expect(faults).toContain("events were printed twice");
  } finally {
    remove();
  }
});
