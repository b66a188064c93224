import { type Fault, faultKinds } from "./compare.ts";
import type { Played } from "./play.ts";
import { type Step, steps } from "./step.ts";

/** What came of all runs so far. */
export class Tally {
  runs = 0;
  kills = 0;
  rows = 0;
  photos = 0;
  restarts = 0;
  endedUnheard = 0;
  /** Runs that were not as they should be. */
  bad = 0;
  /** Kills at each step: of first processes, and of those that had taken a run up. */
  readonly bySteps = new Map<Step, { first: number; resumed: number }>(
    steps.map((step) => [step, { first: 0, resumed: 0 }]),
  );
  readonly faults = new Map<Fault["kind"], number>(faultKinds.map((kind) => [kind, 0]));

  add(played: Played): void {
    this.runs++;
    this.kills += played.kills.length;
    this.rows += played.rows;
    this.photos += played.photos;
    this.restarts += played.restarts;
    if (played.endedUnheard) this.endedUnheard++;
    if (played.faults.length > 0) this.bad++;
    for (const { step, resumed } of played.kills) this.bySteps.get(step)![resumed ? "resumed" : "first"]++;
    for (const { kind } of played.faults) this.faults.set(kind, this.faults.get(kind)! + 1);
  }

  /** As one line of JSON. */
  toJSON(): object {
    const { runs, kills, rows, photos, restarts, endedUnheard, bad } = this;
    return {
      ...{
        runs,
        kills,
        rows,
        photos,
        service_restarts: restarts,
        ended_unheard: endedUnheard,
        bad_runs: bad,
      },
      faults: Object.fromEntries(this.faults),
      kills_by_step: Object.fromEntries(this.bySteps),
    };
  }

  /** As a table for people. */
  lines(): string[] {
    const head = ["killed while it was", "first process", "resumed"];
    const rows = [...this.bySteps].map(([step, { first, resumed }]) => [
      step,
      String(first),
      String(resumed),
    ]);
    return [head, ...rows].map(([step, first, resumed]) =>
      [step!.padEnd(24), first!.padStart(14), resumed!.padStart(10)].join(""),
    );
  }
}
