import { expect } from "vitest";
import { controls } from "../../soak/listen/controls.ts";
import { diskFaults, playDisk } from "../../soak/listen/full-disk.ts";
import { type KillCounts, type KillPlan, killFaults, playKills } from "../../soak/listen/kills.ts";
import { playTakeovers, takeoverFaults } from "../../soak/listen/takeovers.ts";
import { inAHurry, playTroubles, troubleFaults } from "../../soak/listen/troubles.ts";
import { copyProgram, type Patch } from "../../soak/program-files.ts";
import { longTest } from "../support/long-test.ts";
import { catProgram, needsBuild } from "../support/spawn-cat.ts";

/** A short part of `npm run soak:listen`: a real listener that is stopped and killed while events arrive. */
const planned: Omit<KillPlan, "program"> = {
  seed: 1,
  deliveries: 10_000,
  events: 1_000,
  concurrency: 16,
  stops: ["SIGKILL", "SIGINT"],
};

async function played(program: string): Promise<{ counts: KillCounts; faults: string[] }> {
  const counts = await playKills({ ...planned, program });
  return { counts, faults: killFaults({ ...planned, program }, counts) };
}

longTest.concurrent(
  "every event is logged before its response and printed at most once, over kills",
  async () => {
    needsBuild();
    const { counts, faults } = await played(catProgram);
    expect(faults).toEqual([]);
    expect(counts.printed + counts.loggedBeforeKill).toBe(planned.events);
  },
);

longTest.concurrent(
  "a listener that responds before the log is written, and does not read it, is detected",
  async () => {
    needsBuild();
    const { program, remove } = await copyProgram([...controls["respond-first"], ...controls.forget]);
    try {
      const { faults } = await played(program);
      expect(faults).toContain("acknowledged events are missing from the log");
      expect(faults).toContain("events were printed twice");
    } finally {
      remove();
    }
  },
);

/** Kills with deliveries pending, and full disks with a log that is rotated and linked. */
async function disturbed(program: string): Promise<string[]> {
  const takeovers = await playTakeovers({
    program,
    seed: 1,
    kills: 30,
    events: 5,
    refusals: 6,
  });
  const disk = await playDisk({ program, seed: 1, rounds: 100 });
  return [...takeoverFaults(takeovers), ...diskFaults(disk)];
}

longTest.concurrent(
  "no event is lost over kills with deliveries pending, full disks and a rotated log",
  async () => {
    needsBuild();
    expect(await disturbed(catProgram)).toEqual([]);
  },
);

longTest.concurrent(
  "a listener that leaves webhooks behind, and cuts its log by a known size, is detected",
  async () => {
    needsBuild();
    const { program, remove } = await copyProgram([...controls["leave-behind"], ...controls["known-size"]]);
    try {
      const faults = await disturbed(program);
      expect(faults).toContain("deliveries were abandoned");
      expect(faults).toContain("acknowledged events are missing from the log and its copies");
    } finally {
      remove();
    }
  },
);

/** A webhook that is gone, and two signals. */
async function troubled(patches: readonly Patch[], rounds: number): Promise<string[]> {
  needsBuild();
  const { program, remove } = await copyProgram([...inAHurry, ...patches]);
  try {
    return troubleFaults(await playTroubles({ program, seed: 1, rounds }));
  } finally {
    remove();
  }
}

longTest.concurrent(
  "a webhook that is gone is registered again, and two signals leave none behind",
  async () => {
    expect(await troubled([], 6)).toEqual([]);
  },
);

longTest.concurrent(
  "a listener that never reads its webhook, or stops at the second signal, is detected",
  async () => {
    const [unseen, hasty] = await Promise.all([
      troubled(controls["never-look"], 1),
      troubled(controls["stop-at-once"], 6),
    ]);
    expect(unseen).toContain("webhooks that were gone were not registered again");
    expect(hasty).toContain("listeners with two signals had another status than that of the first one");
    expect(hasty).toContain("webhooks were left after two signals");
  },
);
