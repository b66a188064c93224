import small from "./runs/20-thousand.json" with { type: "json" };
import mid from "./runs/100-thousand.json" with { type: "json" };
import large from "./runs/million.json" with { type: "json" };

/** Two measurements of what grows with a count: `[count, value]`. */
export type Line = readonly [readonly [number, number], readonly [number, number]];

/** Memory is its peak in MB. */
interface Process {
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
  /** What was unlike the other runs, as sentences. */
  readonly note?: string;
  readonly phases: Readonly<Record<string, Part>>;
}

interface ImportNumbers {
  readonly sheetRow: number;
  readonly stateRow: number;
  readonly nightRow: number;
  readonly memory: Line;
}

export interface Measured {
  readonly imported: ImportNumbers;
  readonly undo: { readonly reads: number; readonly writes: number };
  readonly tryon: { readonly state: number; readonly readsPerThousand: number; readonly memory: Line };
  readonly rows: { readonly ndjson: number; readonly sheet: number };
  readonly event: number;
  /** By the number of its images. */
  readonly shardMemory: Line;
  /** The smallest first. */
  readonly runs: readonly MirrorRun[];
}

/** What docs/scale.md is computed from. Sizes are bytes, and memory is the peak of a process in MB. */
export const measured: Measured = {
  imported: {
    sheetRow: 174,
    stateRow: 642,
    nightRow: 700,
    memory: [
      [10_000, 144],
      [1_000_000, 177],
    ],
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
  event: 537,
  shardMemory: [
    [49_924, 180],
    [500_351, 281],
  ],
  runs: [small, mid, large],
};
