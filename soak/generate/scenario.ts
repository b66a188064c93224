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
import { type Kind, type Look, makeLooks, type ShopProduct } from "./looks.ts";
import type { Step } from "./step.ts";

/** The values of `--only`, which narrow the runs down. */
export const focuses = [
  ...(["tryon", "beautify", "saves", "rejections"] as const),
  ...(["gateway", "twice", "skew", "sleep", "reruns", "grown", "disk"] as const),
] as const;
export type Focus = (typeof focuses)[number];

/** A file, the service that it meets, and all faults on the way; everything follows from the seed. */
export interface Scenario {
  readonly seed: string;
  readonly kind: Kind;
  readonly format: "csv" | "ndjson";
  readonly matrix: boolean;
  readonly allowDuplicates: boolean;
  readonly skipInvalid: boolean;
  /** Whether the images are saved. */
  readonly saves: boolean;
  /** Whether a results file is named. */
  readonly namesResults: boolean;
  /** Whether the command is run with `--no-wait` until all is queued, and then without. */
  readonly waitsLater: boolean;
  /** Whether two overlapping reviews of the images are run again at once at the end. */
  readonly reruns: boolean;
  readonly products: readonly ShopProduct[];
  readonly looks: readonly Look[];
  /** One for each process that is started, until one ends by itself. */
  readonly troubles: readonly GenerateTrouble[];
  /** Rows that the sheet gets later, and one trouble for each process meanwhile; empty for a sheet that does not grow. */
  readonly later: readonly Look[];
  readonly growth: readonly GenerateTrouble[];
}

/** The faults of one process. */
export interface GenerateTrouble extends Trouble<Step> {
  /** The credits of the organization from its start on; null for any number. */
  readonly credits: number | null;
  /** `--timeout`, in seconds; null for none. */
  readonly timeout: number | null;
  /** Instead of its kill. */
  readonly disk?: DiskFault | null;
}

export function scenarioOf(seed: string, only?: Focus): Scenario {
  const scenario = scenarioIn(seed, only === "disk" ? "saves" : only);
  const random = Random.from(`generate soak ${seed}, disk`);
  const files = scenario.looks.length;
  const troubles = scenario.troubles.map((trouble) => {
    const disk = diskFault(random, files);
    if (only === "disk") return { ...undisturbed, disk };
    const isMet = scenario.saves && !trouble.sleep && random.next() < 0.3;
    return isMet ? { ...trouble, twice: null, disk } : trouble;
  });
  return { ...scenario, troubles, ...(only === "disk" && { later: [], growth: [], reruns: false }) };
}

function scenarioIn(seed: string, only?: Focus): Scenario {
  const random = Random.from(`generate soak ${seed}`);
  const chance = (share: number) => random.next() < share;
  const drawn = chance(0.7) ? "tryon" : "beautify";
  const kind = only === "tryon" || only === "beautify" ? only : only === "sleep" ? "tryon" : drawn;
  const matrix = chance(0.5);
  const allowDuplicates = chance(0.15);
  const skipInvalid = only === "rejections" || chance(0.3);
  const isSmall = only === "sleep" || only === "reruns" || only === "grown";
  const size = isSmall ? 1 + random.below(8) : sizeOf(random, kind);
  const reruns = only === "reruns" || chance(0.1);
  const mayGrow = !skipInvalid && !allowDuplicates && !reruns && size > 1 && only !== "saves";
  const { products, looks: all } = makeLooks(random, {
    ...{ kind, size, matrix, allowDuplicates, hasRejected: skipInvalid },
  });
  const grows = mayGrow && all.length > 1 && (only === "grown" || chance(0.3));
  const first = grows ? Math.ceil(all.length / 2) : all.length;
  const looks = all.slice(0, first);
  const waitsLater = only !== "saves" && chance(0.2);
  const saves = only === "saves" || chance(0.4);
  const scenario: Scenario = {
    seed,
    kind,
    matrix,
    allowDuplicates,
    skipInvalid,
    saves,
    waitsLater,
    reruns,
    products,
    looks,
    format: random.pick(["csv", "ndjson"] as const),
    namesResults: chance(0.3),
    troubles:
      only === "sleep"
        ? [{ ...asleep, skew: chance(0.5) ? dateSkew(random) : null }]
        : makeTroubles(random, { size, saves, kind, only }),
    later: all.slice(first),
    growth: grows ? makeTroubles(random, { size, saves, kind, only }) : [],
  };
  const alsoSleeps = only === undefined ? 0.05 : only === "skew" ? 0.3 : 0;
  return chance(alsoSleeps) ? scenarioIn(seed, "sleep") : scenario;
}

/** Small files show the most in the least time; a request takes 20 try-ons (Limits). */
function sizeOf(random: Random, kind: Kind): number {
  const dice = random.next();
  if (dice < 0.3) return 1 + random.below(8);
  if (dice < 0.7 || kind === "beautify") return 5 + random.below(40);
  return 40 + random.below(80);
}

interface Weights {
  readonly size: number;
  readonly saves: boolean;
  readonly kind: Kind;
  readonly only: Focus | undefined;
}

/** Nothing happens to the process. */
export const undisturbed: GenerateTrouble = {
  ...{ kill: { step: null, nth: 10_000, at: "arrived", waitMs: 0 }, orAtItsEnd: false, faults: [] },
  ...{ failsAfterWork: null, restart: null, credits: null, timeout: null },
};

/** The machine sleeps for a day while a request waits for the rate window; nothing else happens. */
export const asleep: GenerateTrouble = {
  ...undisturbed,
  sleep: { step: "queuing", nightMs: 25 * 3_600_000 },
};

/** At once, or about when the first process ends. */
const secondStart = (random: Random) => ({
  step: random.pick([null, "queuing", "following tasks", "following tasks"] as const),
  waitMs: random.pick([0, 5, 20, 60, 150, 400]),
});

function makeTroubles(random: Random, weights: Weights): GenerateTrouble[] {
  const happens = (focus: Focus) => weights.only === focus || random.next() < 0.12;
  const count = random.pick([1, 2, 2, 3, 3, 4]);
  return Array.from({ length: count }, () => ({
    kill: anyKillPoint<Step>(random, {
      timed: 0.15,
      anyStep: 0.15,
      mostRequests: 6,
      inStep: () => requestInStep(random, weights),
    }),
    ...otherFaults<Step>(random, { places, sending: places[0], work: "queuing" }),
    credits: random.next() < 0.25 ? random.below(weights.size + 1) : null,
    timeout: random.next() < 0.08 ? 1 + random.below(6) : null,
    gateway: happens("gateway") ? gatewayTrouble<Step>(random, ["queuing"]) : null,
    skew: happens("skew") ? dateSkew(random) : null,
    twice: happens("twice") ? secondStart(random) : null,
  }));
}

function requestInStep(random: Random, { saves, kind }: Weights): { step: Step; nth: number } {
  // Most faults are possible while images are queued.
  const likely: Step[] = [
    "queuing",
    "queuing",
    "queuing",
    "queuing",
    "looking up products",
    "following tasks",
  ];
  if (saves) likely.push("saving", "saving", "saving");
  const step = random.pick(likely);
  const most = step === "saving" ? 20 : step === "queuing" && kind === "beautify" ? 20 : 4;
  return { step, nth: random.next() < 0.5 ? 1 : 1 + random.below(most) };
}

/** Possible targets of a fault. */
const places = [
  { method: "POST", path: "/v1/tasks" },
  { method: "POST", path: "/v1/tasks" },
  { method: "GET", path: "/v1/tasks" },
  { method: "GET", path: "/v1/products" },
  { method: "GET", path: "/v1/models" },
  { method: "GET", path: "/_signed" },
  { method: "GET", path: "/v1" },
] as const;
