import type { ImportMode, OnImageError } from "../src/contract/value-sets.ts";
import { Random } from "../src/mock/seed/random.ts";
import { earlierVersion, makeRows, type SoakRow } from "./rows.ts";
import { makeTroubles, type Trouble } from "./troubles.ts";

/** What `--only` narrows the runs down to. */
export const focuses = ["uploads", "patches", "calls", "results"] as const;
export type Focus = (typeof focuses)[number];

/** A file, the service that it meets, and everything that goes wrong on the way: all of it follows from the seed. */
export interface Scenario {
  readonly seed: string;
  readonly mode: ImportMode;
  readonly onImageError: OnImageError;
  /** Null where the flag is not given. */
  readonly photos: "new" | "all" | null;
  readonly format: "csv" | "ndjson";
  readonly concurrency: number;
  /** Whether the failed file and the results file are named. */
  readonly namesOutputs: boolean;
  readonly rows: readonly SoakRow[];
  /** An earlier version of the file that this machine has imported; null for none. */
  readonly earlier: readonly SoakRow[] | null;
  /** Products that others have made. */
  readonly existing: readonly SoakRow[];
  /** What others did to products after the earlier import. */
  readonly meddling: readonly Meddling[];
  /** Whether what was attached is kept in a file of its own (`--ledger`). */
  readonly hasLedgerFile: boolean;
  /** One for each process that is started, until one ends by itself. */
  readonly troubles: readonly Trouble[];
  /** What else is done once a process was killed; null for nothing. */
  readonly detour: Detour | null;
}

/** The command is given with `--fresh`, or another file, which has some of the rows, is imported in between. */
export type Detour =
  | { readonly kind: "fresh" }
  | { readonly kind: "other file"; readonly rows: readonly SoakRow[] };

/** A product that others have deleted (`name` null) or given another name. */
export interface Meddling {
  readonly reference: string;
  readonly name: string | null;
}

export function scenarioOf(seed: string, only?: Focus): Scenario {
  const random = Random.from(`import soak ${seed}`);
  const chance = (share: number) => random.next() < share;
  const isUpsert = only === "patches" || chance(0.78);
  const mode = isUpsert ? "upsert" : random.pick(["create", "skip_existing"] as const);
  const photos = mode === "upsert" ? (only === "patches" || chance(0.8) ? null : "all") : null;
  const size = sizeOf(random, only);
  const hasPhotos = only === "uploads" || (size < 500 && chance(0.4));
  const rows = makeRows(random, size, { hasPhotos });
  const hasEarlier = only === "patches" || chance(0.5);
  const earlier = hasEarlier ? earlierVersion(random, rows) : null;
  const known = new Set(earlier?.map(({ reference }) => reference));
  const isTheirs = ({ reference }: SoakRow) => !known.has(reference) && chance(0.2);
  const existing = chance(0.35) ? rows.filter(isTheirs).map(byOthers) : [];
  const meddling = (earlier ?? [])
    .filter(() => chance(0.03))
    .map(({ reference }) => ({ reference, name: chance(0.5) ? null : `Renamed ${reference}` }));
  return {
    seed,
    mode,
    photos,
    rows,
    earlier,
    existing,
    meddling,
    onImageError: random.pick(["skip", "fail_row"] as const),
    format: random.pick(["csv", "ndjson"] as const),
    concurrency: random.pick([1, 2, 4, 4]),
    namesOutputs: chance(0.5),
    hasLedgerFile: chance(0.15),
    troubles: makeTroubles(random, { hasPhotos, hasPatches: hasEarlier && photos === null, only }),
    // Only what leaves out the photos that are there may be imported twice.
    detour: mode === "upsert" && photos === null && chance(0.2) ? detourOf(random, rows) : null,
  };
}

const byOthers = (row: SoakRow): SoakRow => ({
  ...row,
  name: `${row.name}, by others`,
  images: [{ url: `https://cdn.example.com/theirs/${row.reference}.jpg` }],
});

function detourOf(random: Random, rows: readonly SoakRow[]): Detour {
  if (random.next() < 0.5) return { kind: "fresh" };
  const some = rows.filter(() => random.next() < 0.5);
  return { kind: "other file", rows: some.length > 0 ? some : rows };
}

/** Small files show the most in the least time; of more than 2,000 rows several calls are made (Limits). */
function sizeOf(random: Random, only: Focus | undefined): number {
  if (only === "calls") return 2_001 + random.below(4_000);
  const dice = random.next();
  if (dice < 0.7) return 1 + random.below(40);
  if (dice < 0.88 || only !== undefined) return 40 + random.below(260);
  return 2_001 + random.below(4_000);
}
