import type { Played } from "./played.ts";

/** The results of all runs so far. */
export class Tally {
  runs = 0;
  kills = 0;
  /** Runs with a wrong result. */
  bad = 0;
  readonly #counts = new Map<string, number>();
  /** Kills at each step: of first processes, and of those that had resumed a run. */
  readonly #bySteps: Map<string, { first: number; resumed: number }>;
  readonly #faults: Map<string, number>;

  constructor({ steps, faultKinds }: { steps: readonly string[]; faultKinds: readonly string[] }) {
    this.#bySteps = new Map(steps.map((step) => [step, { first: 0, resumed: 0 }]));
    this.#faults = new Map(faultKinds.map((kind) => [kind, 0]));
  }

  add(played: Played): void {
    this.runs++;
    this.kills += played.kills.length;
    for (const [name, count] of Object.entries(played.counts))
      this.#counts.set(name, (this.#counts.get(name) ?? 0) + count);
    if (played.faults.length > 0) this.bad++;
    for (const { step, resumed } of played.kills) this.#bySteps.get(step)![resumed ? "resumed" : "first"]++;
    for (const { kind } of played.faults) this.#faults.set(kind, this.#faults.get(kind)! + 1);
  }

  /** As one line of JSON. */
  toJSON(): object {
    const { runs, kills, bad } = this;
    return {
      ...{ runs, kills, ...Object.fromEntries(this.#counts), bad_runs: bad },
      faults: Object.fromEntries(this.#faults),
      kills_by_step: Object.fromEntries(this.#bySteps),
    };
  }

  /** As a readable table. */
  lines(): string[] {
    const head = ["killed while it was", "first process", "resumed"];
    const rows = [...this.#bySteps].map(([step, { first, resumed }]) => [
      step,
      String(first),
      String(resumed),
    ]);
    return [head, ...rows].map(([step, first, resumed]) =>
      [step!.padEnd(24), first!.padStart(14), resumed!.padStart(10)].join(""),
    );
  }
}
