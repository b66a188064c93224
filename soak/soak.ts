import { type Lane, openLane } from "./lane.ts";
import { type Played, play } from "./play.ts";
import { type Control, controls, copyProgram } from "./program-files.ts";
import { type Focus, focuses, type Scenario, scenarioOf } from "./scenario.ts";
import { Tally } from "./tally.ts";

/** What the command line asks for. */
export interface SoakFlags {
  runs: string;
  seed: string;
  lanes: string;
  only?: string | undefined;
  control?: string | undefined;
}

export interface SoakPlan {
  readonly scenarios: Iterable<Scenario>;
  /** So many runs go on at once: most of each is waiting. */
  readonly lanes: number;
  /** The fault that is put into the program; null for the program as it is built. */
  readonly control: Control | null;
  /** Begins no more runs, and ends when those under way have. */
  readonly signal?: AbortSignal;
  /** Told after each run. */
  readonly onPlayed: (played: Played) => void;
}

/** Plays the scenarios, each on a service of its own. */
export async function playAll({ scenarios, lanes, control, signal, onPlayed }: SoakPlan): Promise<void> {
  const { program, remove } = await copyProgram(control);
  const queue = scenarios[Symbol.iterator]();
  let isOver = false;
  const worker = async () => {
    let lane: Lane | null = null;
    try {
      for (let next = queue.next(); !next.done && !isOver && !signal?.aborted; next = queue.next()) {
        lane ??= await openLane(program);
        onPlayed(await play(next.value, lane, program));
      }
    } catch (error) {
      isOver = true;
      throw error;
    } finally {
      await lane?.close();
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: lanes }, worker));
  remove();
  for (const one of ended) if (one.status === "rejected") throw one.reason;
}

/** Plays all runs and prints what came of them; gives the status to end with: 0 when every one is as it should be. */
export async function soak(flags: SoakFlags): Promise<number> {
  const { only, control, seed } = flags as { only?: Focus; control?: Control; seed: string };
  const [runs, lanes] = [Number(flags.runs), Number(flags.lanes)];
  if (!(Number.isInteger(runs) && runs > 0 && Number.isInteger(lanes) && lanes > 0)) {
    return refuse("--runs and --lanes are whole numbers above 0");
  }
  if (only !== undefined && !focuses.includes(only)) return refuse(`--only is one of ${focuses.join(", ")}`);
  if (control !== undefined && !(control in controls)) {
    return refuse(`--control is one of ${Object.keys(controls).join(", ")}`);
  }
  const tally = new Tally();
  const began = performance.now();
  const alone = `${only === undefined ? "" : ` --only ${only}`}${control === undefined ? "" : ` --control ${control}`}`;
  const onPlayed = (played: Played): void => {
    tally.add(played);
    for (const { kind, what } of played.faults.slice(0, 5)) console.error(`${played.seed}: ${kind}: ${what}`);
    if (played.faults.length > 0) {
      console.error(`${played.seed}: alone: npm run soak:import -- --runs 1 --seed ${played.seed}${alone}`);
    }
    if (tally.runs % 20 === 0) {
      const seconds = Math.round((performance.now() - began) / 1000);
      console.error(
        `${tally.runs} of ${runs} runs, ${tally.kills} kills, ${tally.bad} bad runs, ${seconds} s`,
      );
    }
  };
  // The services and folders go with the end, so an interrupt has to come there as well.
  const interrupt = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"]) process.once(name, () => interrupt.abort());
  await playAll({
    ...{ scenarios: scenarios(seed, runs, only), lanes: Math.min(lanes, runs) },
    ...{ control: control ?? null, signal: interrupt.signal, onPlayed },
  });
  for (const line of tally.lines()) console.error(line);
  const seconds = Math.round((performance.now() - began) / 1000);
  console.log(
    JSON.stringify({ ...tally.toJSON(), control: control ?? null, only: only ?? null, seed, seconds }),
  );
  return tally.bad === 0 ? 0 : 1;
}

/** The first has the seed itself, so that every one can be had alone. */
function* scenarios(seed: string, runs: number, only: Focus | undefined): Generator<Scenario> {
  for (let at = 0; at < runs; at++) yield scenarioOf(at === 0 ? seed : `${seed}.${at}`, only);
}

function refuse(why: string): number {
  console.error(why);
  return 2;
}
