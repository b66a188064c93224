import small from "./run-of-20-thousand.json" with { type: "json" };
import large from "./run-of-a-million.json" with { type: "json" };

/** Two measurements of what grows with a count: `[count, value]`. */
export type Line = readonly [readonly [number, number], readonly [number, number]];

interface Process {
  /** Peak memory in MB. */
  readonly peak: number;
  readonly cpuMs: number;
}

/** A part of a run of bench/million/mirror.js, as it prints it. */
export interface Part {
  readonly seconds: number;
  readonly shards?: readonly Process[];
  readonly merge?: Process;
  readonly images_bytes?: number;
  readonly images_blocks?: number;
  readonly index_bytes?: number;
  readonly table_bytes?: number;
  readonly images?: number;
  readonly served: Readonly<Record<string, number>>;
  readonly mock: { readonly cpu_s: number; readonly peak_mb: number };
}

export interface MirrorRun {
  readonly products: number;
  readonly phases: Readonly<Record<string, Part>>;
}

export interface Measured {
  readonly imported: {
    readonly sheetRow: number;
    readonly stateRow: number;
    readonly memory: Line;
    readonly nightRow: number;
  };
  readonly undo: { readonly reads: number; readonly writes: number };
  readonly tryon: { readonly state: number; readonly readsPerThousand: number; readonly memory: Line };
  readonly rows: { readonly ndjson: number; readonly sheet: number };
  readonly event: { readonly bytes: number };
  readonly runs: { readonly small: MirrorRun; readonly large: MirrorRun };
}

/** What docs/scale.md is computed from. Sizes are bytes, and memory is the peak of a process in MB. */
export const measured: Measured = {
  imported: {
    sheetRow: 174,
    stateRow: 642,
    memory: [
      [10_000, 144],
      [1_000_000, 177],
    ],
    nightRow: 700,
  },
  undo: { reads: 2, writes: 1 },
  tryon: {
    state: 538,
    readsPerThousand: 223,
    memory: [
      [10_000, 229],
      [40_000, 477],
    ],
  },
  rows: { ndjson: 1_801, sheet: 238 },
  event: { bytes: 537 },
  runs: { small, large },
};
