import { differences } from "./check.ts";
import { playDay } from "./day.ts";
import { grown, month, type Size, sizeOf } from "./growth.ts";
import { killListener, Listener } from "./listener.ts";
import { Night, WrongEndError } from "./night.ts";
import { openScene } from "./open-scene.ts";
import type { Program } from "./programs.ts";
import { count, type Scene } from "./scene.ts";
import { type Trouble, troubleKinds, troubleOf } from "./troubles.ts";

export interface YearPlan {
  readonly seed: string;
  readonly nights: number;
  readonly products: number;
  /** The version of the first half; null for the same as that of the second one. */
  readonly older: Program | null;
  readonly program: Program;
  /** The troubles of the nights after the first one, again and again; none for any. */
  readonly troubles?: readonly Trouble[];
  readonly onNight?: (line: string) => void;
}

/** What a year has shown. */
export interface Year {
  readonly seed: string;
  readonly nights: number;
  /** Differences from the model, of the first night that had any; at the end, what has grown too much. */
  readonly faults: readonly { readonly night: number; readonly what: string }[];
  readonly counts: Readonly<Record<string, number>>;
  /** What each night left, and what it took. */
  readonly sizes: Readonly<Record<number, Size>>;
}

const [hour, day] = [3_600_000, 86_400_000];
const start = Date.parse("2027-01-01T00:00:00Z");

/** Plays a year, until a night differs from the model. */
export async function playYear(plan: YearPlan): Promise<Year> {
  const { seed, nights, older, program, troubles = [], onNight = () => {} } = plan;
  const { scene, takeUse, close } = await openScene({ ...plan, program: older ?? program }, start);
  let faults: Year["faults"] = [];
  const sizes: Record<number, Size> = {};
  let hasEdits = false;
  try {
    for (let night = 1; night <= nights && faults.length === 0; night++) {
      const began = { at: performance.now(), cpu: process.cpuUsage() };
      if (night === Math.floor(nights / 2) + 1) scene.site.program = program;
      const isMonthEnd = night % month === 0 || night === nights;
      const chosen = night === 1 ? calm : troubles[(night - 2) % troubles.length];
      const trouble: Trouble = chosen ?? drawTrouble(scene, { hasEdits, isMonthEnd });
      hasEdits = trouble.kind === "expired key" || isMonthEnd;
      faults = (await playNight(scene, { night, trouble, isMonthEnd })).map((what) => ({ night, what }));
      const { user, system } = process.cpuUsage(began.cpu);
      const took = {
        ...takeUse(),
        wall_ms: Math.round(performance.now() - began.at),
        cpu_ms: Math.round((user + system) / 1000),
      };
      sizes[night] = { ...took, ...sizeOf(scene, isMonthEnd) };
      onNight(`${seed} night ${night}: ${describe(trouble)}: ${JSON.stringify(took)}`);
    }
    if (faults.length === 0) faults = grown(sizes).map((what) => ({ night: nights, what }));
    for (const { night, what } of faults) onNight(`${seed} night ${night}: ${what}`);
    count(scene, "products", scene.shop.all.length);
    return { seed, nights, faults, counts: scene.counts, sizes };
  } finally {
    await close();
  }
}

/** A day and its night; returns how they differ from the model. */
async function playNight(
  scene: Scene,
  { night, trouble, isMonthEnd }: { night: number; trouble: Trouble; isMonthEnd: boolean },
): Promise<string[]> {
  const { mock, sheet } = scene;
  let listener: Listener | null = null;
  try {
    // Nobody listens between the nights: each day's work is done within an hour before its night.
    await mock.clock.advanceTo(start + night * day - 2 * hour);
    if (trouble.kind === "kill" && trouble.step === "listener") await killListener(scene);
    listener = await Listener.start(scene);
    if (night > 1) {
      await playDay(scene, night === 2);
      sheet.change(night, trouble.kind !== "lost state");
    }
    await new Night(scene, trouble, isMonthEnd).play();
    await mock.clock.advance(2 * 60_000);
    await mock.settled();
    await listener.stop();
    listener = null;
    // Without a key, the night has done nothing yet.
    return trouble.kind === "expired key" ? [] : differences(scene, isMonthEnd);
  } catch (error) {
    return [error instanceof WrongEndError ? error.message : String((error as Error).stack)];
  } finally {
    await listener?.stop();
  }
}

const calm: Trouble = { kind: "skewed clock", aheadMs: 0 };

/**
 * After a month's end all can be compared, and its undo needs the state. While the sheet has edits of an earlier day that were not carried out, or were
 * undone, the server keeps its state: without it, a replaced photo is a conflict.
 */
function drawTrouble(
  { random }: Scene,
  { hasEdits, isMonthEnd }: { hasEdits: boolean; isMonthEnd: boolean },
): Trouble {
  for (;;) {
    const kind = random.pick(troubleKinds);
    const isExcluded =
      (kind === "expired key" && isMonthEnd) || (kind === "lost state" && (hasEdits || isMonthEnd));
    if (!isExcluded) return troubleOf(kind, random);
  }
}

const describe = (trouble: Trouble): string =>
  Object.entries(trouble)
    .filter(([name]) => name !== "faults")
    .map(([, value]) => JSON.stringify(value))
    .join(" ");
