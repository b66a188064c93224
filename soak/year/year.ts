import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { startMock } from "../../src/mock/index.ts";
import { Random } from "../../src/mock/seed/seed.ts";
import { memoryFolder } from "../../test/support/memory-folder.ts";
import { startObjectStore } from "../../test/support/object-store.ts";
import { TestClock } from "../../test/support/test-clock.ts";
import { differences, startCredits } from "./check.ts";
import { playDay } from "./day.ts";
import { sizeOf, tablesOf } from "./growth.ts";
import { killListener, Listener } from "./listener.ts";
import { Machine, type Site } from "./machine.ts";
import { Night, putKey, WrongEndError } from "./night.ts";
import type { Program } from "./programs.ts";
import { count, type Scene } from "./scene.ts";
import { Photos, Sheet } from "./sheet.ts";
import { Shop } from "./shop.ts";
import { type Trouble, troubleKinds, troubleOf } from "./troubles.ts";

export interface YearPlan {
  readonly seed: string;
  readonly nights: number;
  readonly products: number;
  /** The version of the first half; null for the same as that of the second one. */
  readonly older: Program | null;
  readonly program: Program;
  /** The trouble of each night but the first; null for any. */
  readonly trouble?: Trouble | null;
  readonly onNight?: (line: string) => void;
}

/** What a year has shown. */
export interface Year {
  readonly seed: string;
  readonly nights: number;
  readonly faults: readonly { readonly night: number; readonly what: string }[];
  readonly counts: Readonly<Record<string, number>>;
  readonly sizes: Readonly<Record<number, object>>;
}

const [hour, day] = [3_600_000, 86_400_000];
const start = Date.parse("2027-01-01T00:00:00Z");

/** How often all is compared, and a month ends. */
const month = 30;

export async function playYear({
  seed,
  nights,
  products,
  older,
  program,
  trouble: only = null,
  onNight = () => {},
}: YearPlan): Promise<Year> {
  const root = mkdtempSync(join(memoryFolder(), "catalogue-soak-"));
  const clock = new TestClock({ frozenAt: start });
  const random = Random.from(`year soak ${seed}`);
  const used: { rss: number; cpuMs: number; words: string }[] = [];
  const mock = await startMock({
    clock,
    seed: random.below(1e6),
    speed: 25,
    onRequest: () => {
      requests++;
      site.onRequest?.();
    },
  });
  let requests = 0;
  const store = await startObjectStore(() => clock.now(), 1_000);
  const site: Site = {
    clock,
    program: older ?? program,
    env: {
      ...{ CAT_BASE_URL: mock.baseUrl, AWS_ACCESS_KEY_ID: "AK", AWS_SECRET_ACCESS_KEY: "SK" },
      ...{ AWS_ENDPOINT_URL_S3: store.origin, AWS_REGION: "us-east-1", PATH: process.env.PATH ?? "" },
      ...{ AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true" },
    },
    onProcess: (process) => used.push(process),
    onRequest: null,
  };
  mock.credits = startCredits;
  const photos = new Photos();
  const [server, ann, ben, hooks] = (["server", "ann", "ben", "hooks"] as const).map(
    (name) => new Machine(site, root, name),
  ) as [Machine, Machine, Machine, Machine];
  for (const { key } of [server, ann, ben, hooks]) await putKey({ mock }, key, {});
  const scene: Scene = {
    ...{
      seed,
      random,
      clock,
      site,
      mock,
      store,
      server,
      ann,
      ben,
      hooks,
      hooksPort: 0,
      photos,
      counts: {},
      bens: new Set(),
      polls: [],
    },
    ...{
      sheet: new Sheet(random, photos, products),
      shop: new Shop(),
      conflicts: random.pick(["service", "sheet"]),
    },
  };
  const faults: { night: number; what: string }[] = [];
  const sizes: Record<number, object> = {};
  let last: Trouble | null = null;
  try {
    for (let night = 1; night <= nights && faults.length === 0; night++) {
      const began = { at: performance.now(), cpu: process.cpuUsage() };
      requests = 0;
      if (older !== null && night === Math.floor(nights / 2) + 1) site.program = program;
      const isLast = night === nights;
      const isMonthEnd = night % month === 0 || isLast;
      const trouble: Trouble = night > 1 && only !== null ? only : drawTrouble(scene, last, isMonthEnd);
      last = trouble;
      let listener: Listener | null = null;
      try {
        // Nobody listens between the nights: each day's work is done within an hour before its night.
        await mock.clock.advanceTo(start + night * day - 2 * hour);
        if (trouble.kind === "kill" && trouble.step === "listener") await killListener(scene);
        listener = await Listener.start(scene);
        if (night > 1) {
          await playDay(scene, night === 2);
          scene.sheet.change(night, trouble.kind !== "lost state");
        }
        await new Night(scene, trouble, { isMonthEnd, isFull: isMonthEnd }).play();
        await mock.clock.advance(2 * 60_000);
        await mock.settled();
        const isCheckNight = isMonthEnd && trouble.kind !== "expired key";
        await listener.stop();
        listener = null;
        if (trouble.kind !== "expired key")
          for (const what of differences(scene, isCheckNight)) faults.push({ night, what });
      } catch (error) {
        faults.push({
          night,
          what: error instanceof WrongEndError ? error.message : String((error as Error).stack),
        });
      } finally {
        await listener?.stop();
      }
      const cpu = process.cpuUsage(began.cpu);
      const took = {
        requests,
        wall_ms: Math.round(performance.now() - began.at),
        cpu_ms: Math.round((cpu.user + cpu.system) / 1000),
        processes: used
          .splice(0)
          .map(({ rss, cpuMs, words }) => `${words} ${Math.round(rss / 1e6)} MB ${Math.round(cpuMs)} ms`),
      };
      sizes[night] = {
        ...sizeOf(scene),
        ...took,
        ...(isMonthEnd && {
          tables: tablesOf(server.at("home/state/default.db")),
          tables_ann: tablesOf(ann.at("home/state/default.db")),
        }),
      };
      onNight(`${seed} night ${night}: ${describe(trouble)}: ${JSON.stringify(took)}`);
      for (const { what } of faults) onNight(`${seed} night ${night}: ${what}`);
    }
    count(scene, "products", scene.shop.all.length);
    return { seed, nights, faults, counts: scene.counts, sizes };
  } finally {
    await mock.stop();
    store.stop();
    if (process.env.SOAK_KEEP === undefined) rmSync(root, { recursive: true, force: true });
    else onNight(root);
  }
}

/**
 * The first night has none, and that of a month's end one that all can be compared after. A server without its state
 * cannot tell a photo that was replaced in a night without an import from one of another client: that is a conflict.
 */
function drawTrouble({ random }: Scene, last: Trouble | null, isMonthEnd: boolean): Trouble {
  if (last === null) return { kind: "skewed clock", aheadMs: 0 };
  for (;;) {
    const kind = random.pick(troubleKinds);
    const isExcluded =
      kind === "expired key" ? isMonthEnd : kind === "lost state" && last.kind === "expired key";
    if (!isExcluded) return troubleOf(kind, random);
  }
}

const describe = (trouble: Trouble): string =>
  Object.entries(trouble)
    .filter(([name]) => name !== "faults")
    .map(([, value]) => JSON.stringify(value))
    .join(" ");
