import type { ImportMode, OnImageError } from "../../src/contract/value-sets.ts";
import { Random } from "../../src/mock/seed/seed.ts";
import { dateSkew, type Trouble } from "../trouble.ts";
import { earlierVersion, makeRows, type SoakRow } from "./rows.ts";
import type { Step } from "./step.ts";
import { type Story, storyOf } from "./story.ts";
import { makeTroubles } from "./troubles.ts";

/** Restricts the runs (`--only`). */
export const focuses = [
  "uploads",
  "patches",
  "calls",
  "results",
  "gateway",
  "twice",
  "skew",
  "sleep",
  "machines",
] as const;
export type Focus = (typeof focuses)[number];

/** A file, its service, and all faults on the way, derived from the seed. */
export interface Scenario {
  readonly seed: string;
  readonly mode: ImportMode;
  readonly onImageError: OnImageError;
  /** Null if the flag is not used. */
  readonly photos: "new" | "all" | null;
  readonly format: "csv" | "ndjson";
  readonly concurrency: number;
  /** Whether the command sets the failed file and the results file. */
  readonly namesOutputs: boolean;
  readonly rows: readonly SoakRow[];
  /** An earlier version of the file imported from this machine; null for none. */
  readonly earlier: readonly SoakRow[] | null;
  /** Products created by other clients. */
  readonly existing: readonly SoakRow[];
  /** How far the `Date` of responses is ahead during the earlier import, in milliseconds. */
  readonly earlierAheadMs: number;
  /** Changes by other clients after the earlier import. */
  readonly meddling: readonly Meddling[];
  /** Whether the ledger is a separate file (`--ledger`). */
  readonly hasLedgerFile: boolean;
  /** One per process started, until one ends by itself. */
  readonly troubles: readonly Trouble<Step>[];
  /** An extra step after a process was killed; null for none. */
  readonly detour: Detour | null;
  /** Two machines import one file by turns, instead of all that; null for none. */
  readonly story: Story | null;
}

/** The command runs with `--fresh`, or another file with some of the rows is imported in between. */
export type Detour =
  | { readonly kind: "fresh" }
  | { readonly kind: "other file"; readonly rows: readonly SoakRow[] };

/** A product that another client deleted (`name` null) or renamed. */
export interface Meddling {
  readonly reference: string;
  readonly name: string | null;
}

/** These need imports that skip attached photos. */
const comparing: readonly Focus[] = ["patches", "twice", "skew", "sleep"];

export function scenarioOf(seed: string, only?: Focus): Scenario {
  const random = Random.from(`import soak ${seed}`);
  const chance = (share: number) => random.next() < share;
  const comparesAlways = only !== undefined && comparing.includes(only);
  const isUpsert = comparesAlways || chance(0.78);
  const mode = isUpsert ? "upsert" : random.pick(["create", "skip_existing"] as const);
  const photos = mode === "upsert" ? (comparesAlways || chance(0.8) ? null : "all") : null;
  const size = sizeOf(random, only);
  const hasPhotos = only === "uploads" || (size < 500 && chance(0.4));
  const made = makeRows(random, size, { hasPhotos });
  // After a day only the user knows what became of a batch, and counts all of its photos as attached.
  const rows = only === "sleep" ? made.map(withoutFailures) : made;
  const hasEarlier = only === "patches" || only === "skew" || chance(0.5);
  const earlier = hasEarlier ? earlierVersion(random, rows) : null;
  const known = new Set(earlier?.map(({ reference }) => reference));
  const isTheirs = ({ reference }: SoakRow) => !known.has(reference) && chance(0.2);
  const existing = chance(0.35) ? rows.filter(isTheirs).map(byOthers) : [];
  const meddling = (earlier ?? [])
    .filter(() => chance(0.03))
    .map(({ reference }) => ({ reference, name: chance(0.5) ? null : `Renamed ${reference}` }));
  const scenario: Scenario = {
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
    earlierAheadMs: only === "skew" || chance(0.1) ? dateSkew(random).aheadMs : 0,
    troubles: makeTroubles(random, {
      ...{ hasPhotos, hasPatches: hasEarlier && photos === null, only },
      isRepeatable: mode === "upsert" && photos === null,
    }),
    story: only === "machines" || (only === undefined && chance(0.3)) ? storyOf(random) : null,
    // Only imports that skip attached photos may be repeated.
    detour: mode === "upsert" && photos === null && chance(0.2) ? detourOf(random, rows) : null,
  };
  return only === undefined && chance(0.05) ? scenarioOf(seed, "sleep") : scenario;
}

/** All of its photos can be fetched. */
export const withoutFailures = (row: SoakRow): SoakRow => ({
  ...row,
  images: row.images.map((one) => ("url" in one ? { url: one.url.replace("/fail-", "/ok-") } : one)),
});

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

/** Small files show the most in the least time; more than 2,000 rows need several batches (Limits). */
function sizeOf(random: Random, only: Focus | undefined): number {
  if (only === "sleep") return 1 + random.below(40);
  // Above 100 rows the changes since a stored time are read, instead of each product.
  if (only === "skew") return random.next() < 0.5 ? 1 + random.below(40) : 101 + random.below(200);
  if (only === "calls") return 2_001 + random.below(4_000);
  const dice = random.next();
  if (dice < 0.7) return 1 + random.below(40);
  if (dice < 0.88 || only !== undefined) return 40 + random.below(260);
  return 2_001 + random.below(4_000);
}
