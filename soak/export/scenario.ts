import { Random } from "../../src/mock/seed/seed.ts";
import {
  anyKillPoint,
  type DiskFault,
  dateSkew,
  diskFault,
  gatewayTrouble,
  otherFaults,
  type Trouble,
} from "../trouble.ts";
import { type ListFault, listFaults } from "./faulty-lists.ts";
import type { Step } from "./step.ts";

/** The kinds of exports, and values of `--only`. */
export const modes = ["manifest", "zip", "extract", "sync"] as const;
export type Mode = (typeof modes)[number];

/** The values of `--only`: a kind of export, or mirrors whose processes all meet faults of the disk. */
export const focuses = [...modes, "disk"] as const;
export type Focus = (typeof focuses)[number];

/** A catalogue, one export of it, and all faults on the way; everything follows from the seed. */
export interface Scenario {
  readonly seed: string;
  readonly mode: Mode;
  /** How many photos each product has. */
  readonly photos: readonly number[];
  /** The places of the products to export; null for all. */
  readonly selected: readonly number[] | null;
  /** Whether the files of an earlier export exist. */
  readonly replaces: boolean;
  /** One for each process that is started, until one ends by itself. */
  readonly troubles: readonly ExportTrouble[];
  /** Runs that a complete mirror has afterwards. */
  readonly laterRuns: readonly LaterRun[];
}

/** A run that reads everything from a service that answers wrongly, and the changes of other clients after it. */
export interface LaterRun {
  readonly list: ListFault | null;
  /** How far the `Date` of responses is ahead, in milliseconds. */
  readonly aheadMs: number;
  readonly delete: boolean;
}

/** The faults of one process. */
export interface ExportTrouble extends Trouble<Step> {
  /** `--timeout`, in seconds; null for none. */
  readonly timeout: number | null;
  /** Instead of its kill. */
  readonly disk?: DiskFault | null;
}

export function scenarioOf(seed: string, only?: Focus): Scenario {
  const scenario = scenarioIn(seed, only === "disk" ? "sync" : only);
  const random = Random.from(`export soak ${seed}, disk`);
  const photos = only === "disk" ? scenario.photos.flatMap((count) => [count, count]) : scenario.photos;
  const files = photos.reduce((sum, count) => sum + count, 0);
  const troubles = scenario.troubles.map((trouble) => {
    const disk = diskFault(random, files);
    if (only === "disk") return { ...undisturbed, disk };
    return random.next() < (scenario.mode === "sync" ? 0.6 : 0.3)
      ? { ...trouble, twice: null, disk }
      : trouble;
  });
  return { ...scenario, photos, troubles, ...(only === "disk" && { laterRuns: [] }) };
}

/** Nothing happens to the process. */
export const undisturbed: ExportTrouble = {
  ...{ kill: { step: null, nth: 10_000, at: "arrived", waitMs: 0 }, orAtItsEnd: false, faults: [] },
  ...{ failsAfterWork: null, restart: null, timeout: null },
};

function scenarioIn(seed: string, only?: Mode): Scenario {
  const random = Random.from(`export soak ${seed}`);
  const mode = only ?? random.pick(modes);
  const count = random.pick([1, 3, 7, 8, 12, 18]);
  const photos = Array.from({ length: count }, () => random.pick([1, 1, 1, 2, 3]));
  const isSelected = mode !== "sync" && random.next() < 0.3;
  const selected = isSelected
    ? photos.map((_, at) => at).filter((at) => at === 0 || random.next() < 0.6)
    : null;
  return {
    ...{ seed, mode, photos, selected },
    replaces: mode !== "sync" && mode !== "extract" && random.next() < 0.4,
    troubles: Array.from({ length: random.pick([1, 2, 2, 3, 3, 4]) }, () => troubleOf(random, mode)),
    laterRuns: mode === "sync" ? Array.from({ length: random.below(4) }, () => laterRunOf(random)) : [],
  };
}

const laterRunOf = (random: Random): LaterRun => ({
  list: random.pick([null, ...listFaults]),
  aheadMs: random.next() < 0.5 ? dateSkew(random).aheadMs : 0,
  delete: random.next() < 0.5,
});

function troubleOf(random: Random, mode: Mode): ExportTrouble {
  return {
    kill: anyKillPoint<Step>(random, {
      timed: 0.25,
      anyStep: 0.15,
      mostRequests: 8,
      inStep: () => ({
        step: random.pick(mode === "sync" ? stepsOfSync : stepsOfJobs),
        nth: 1 + random.below(mode === "sync" ? 20 : 3),
      }),
    }),
    ...otherFaults<Step>(random, {
      places,
      sending: mode === "sync" ? places.at(-1)! : places[0],
      work: "creating jobs",
    }),
    gateway: mode !== "sync" && random.next() < 0.25 ? gatewayTrouble(random, ["creating jobs"]) : null,
    skew: random.next() < 0.15 ? dateSkew(random) : null,
    twice: random.next() < 0.15 ? { step: null, waitMs: 0 } : null,
    timeout: mode !== "sync" && random.next() < 0.1 ? 1 + random.below(3) : null,
  };
}

/** Steps in which most of a run happens. */
const stepsOfSync: readonly Step[] = ["reading", "downloading", "downloading", "downloading"];
const stepsOfJobs: readonly Step[] = [
  "reading",
  ...(["creating jobs", "creating jobs"] as const),
  "following jobs",
  ...(["downloading", "downloading", "downloading"] as const),
];

/** Possible targets of a fault. */
const places = [
  { method: "POST", path: "/v1/exports" },
  { method: "POST", path: "/v1/exports" },
  { method: "GET", path: "/v1/exports" },
  { method: "GET", path: "/_signed" },
  { method: "GET", path: "/_signed" },
  { method: "GET", path: "/v1" },
] as const;
