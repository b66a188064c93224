/** Two measurements of what grows with a count: `[count, value]`. */
export type Line = readonly [readonly [number, number], readonly [number, number]];

/** A part of the run with a million products; `memory`: the peaks of its processes. */
interface Phase {
  readonly what: string;
  readonly memory: readonly number[];
  readonly cpuSeconds: number;
  readonly lists: number;
  readonly downloads: number;
  readonly seconds: number;
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
  readonly mirror: {
    readonly indexLine: number;
    readonly tableRow: number;
    readonly memory: Line;
    readonly cpuMs: number;
  };
  readonly million: {
    readonly images: number;
    readonly bytes: Readonly<Record<"images" | "blocks" | "indexes" | "tables", number>>;
    readonly mock: { readonly memory: number; readonly cpuSeconds: number };
    readonly phases: readonly Phase[];
  };
}

/** What docs/scale.md is computed from. Sizes are bytes, and memory is the peak of a process in MB. */
export const measured: Measured = {
  imported: {
    sheetRow: 174,
    stateRow: 637,
    memory: [
      [10_000, 141],
      [1_000_000, 177],
    ],
    nightRow: 700,
  },
  undo: { reads: 2, writes: 1 },
  tryon: {
    state: 540,
    readsPerThousand: 223,
    memory: [
      [10_000, 230],
      [40_000, 477],
    ],
  },
  rows: { ndjson: 1_801, sheet: 238 },
  event: { bytes: 400 },
  mirror: {
    indexLine: 552,
    tableRow: 975,
    memory: [
      [10_000, 191],
      [500_000, 350],
    ],
    cpuMs: 0.85,
  },
  million: {
    images: 2_000_000,
    bytes: { images: 2e9, blocks: 8e9, indexes: 2e9, tables: 2e9 },
    mock: { memory: 1_250, cpuSeconds: 1_200 },
    phases: [
      {
        what: "first run",
        memory: [350, 350, 350, 350],
        cpuSeconds: 1_600,
        lists: 44_000,
        downloads: 2_000_000,
        seconds: 4_000,
      },
    ],
  },
};
