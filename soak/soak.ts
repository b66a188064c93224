import { parseArgs } from "node:util";
import type { StepOf } from "./gate.ts";
import { type Lane, openLane } from "./lane.ts";
import type { Played } from "./played.ts";
import { copyProgram, type Patch } from "./program-files.ts";
import { Tally } from "./tally.ts";

/** A stress test of one command. */
export interface Soak<Scenario, Step extends string> {
  /** The npm script that runs it. */
  readonly script: string;
  /** How many runs it has unless `--runs` says so. */
  readonly runs: number;
  readonly steps: readonly Step[];
  readonly stepOf: StepOf<Step>;
  /** The kinds of wrong results. */
  readonly faultKinds: readonly string[];
  /** The values of `--only`, which narrows the runs down. */
  readonly focuses: readonly string[];
  /** Changes to the program that make a run short, e.g. smaller limits. */
  readonly patches?: readonly Patch[];
  /** Faults to add to the program, by the value of `--control`. */
  readonly controls: Readonly<Record<string, Patch | readonly Patch[]>>;
  /** Gives the scenario of a control run what the fault needs to show. */
  readonly underControl?: (scenario: Scenario, control: string) => Scenario;
  readonly scenarioOf: (seed: string, only: string | undefined) => Scenario;
  /** Plays a scenario on a lane with the program in that file, and checks the result. */
  readonly play: (scenario: Scenario, lane: Lane<Step>, program: string) => Promise<Played<Step>>;
}

export interface SoakPlan<Scenario> {
  readonly scenarios: Iterable<Scenario>;
  /** The number of concurrent runs: most of each is waiting. */
  readonly lanes: number;
  /** The changes to the program; none for the program as built. */
  readonly patches: readonly Patch[];
  /** Starts no more runs, and ends when those in progress have ended. */
  readonly signal?: AbortSignal;
  /** Receives the result of each run. */
  readonly onPlayed: (played: Played) => void;
}

/** Plays the scenarios, each on its own service. */
export async function playAll<Scenario, Step extends string>(
  { stepOf, play }: Pick<Soak<Scenario, Step>, "stepOf" | "play">,
  { scenarios, lanes, patches, signal, onPlayed }: SoakPlan<Scenario>,
): Promise<void> {
  const { program, remove } = await copyProgram(patches);
  const queue = scenarios[Symbol.iterator]();
  let isOver = false;
  const worker = async () => {
    let lane: Lane<Step> | null = null;
    try {
      for (let next = queue.next(); !next.done && !isOver && !signal?.aborted; next = queue.next()) {
        lane ??= await openLane(program, stepOf);
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

/** Plays all runs that the command line asks for and prints the results; returns the exit status: 0 if every run is correct. */
export async function runSoak<Scenario, Step extends string>(soak: Soak<Scenario, Step>): Promise<number> {
  const { script, controls, focuses } = soak;
  const { values: flags } = parseArgs({
    options: {
      runs: { type: "string", default: String(soak.runs) },
      seed: { type: "string", default: "1" },
      only: { type: "string" },
      control: { type: "string" },
      lanes: { type: "string", default: "4" },
    },
  });
  const { only, control, seed } = flags;
  const [runs, lanes] = [Number(flags.runs), Number(flags.lanes)];
  if (!(Number.isInteger(runs) && runs > 0 && Number.isInteger(lanes) && lanes > 0)) {
    return refuse("--runs and --lanes must be integers above 0");
  }
  if (only !== undefined && !focuses.includes(only))
    return refuse(`--only must be one of ${focuses.join(", ")}`);
  if (control !== undefined && !(control in controls)) {
    return refuse(`--control must be one of ${Object.keys(controls).join(", ")}`);
  }
  const scenarioOf: typeof soak.scenarioOf = (...of) => {
    const scenario = soak.scenarioOf(...of);
    return control === undefined ? scenario : (soak.underControl?.(scenario, control) ?? scenario);
  };
  const tally = new Tally(soak);
  const began = performance.now();
  const alone = `${only === undefined ? "" : ` --only ${only}`}${control === undefined ? "" : ` --control ${control}`}`;
  const onPlayed = (played: Played): void => {
    tally.add(played);
    for (const { kind, what } of played.faults.slice(0, 5)) console.error(`${played.seed}: ${kind}: ${what}`);
    if (played.faults.length > 0) {
      console.error(
        `${played.seed}: to repeat it: npm run ${script} -- --runs 1 --seed ${played.seed}${alone}`,
      );
    }
    if (tally.runs % 20 === 0) {
      const seconds = Math.round((performance.now() - began) / 1000);
      console.error(
        `${tally.runs} of ${runs} runs, ${tally.kills} kills, ${tally.bad} bad runs, ${seconds} s`,
      );
    }
  };
  // Services and folders are cleaned up at the end, which an interrupt must reach too.
  const interrupt = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"]) process.once(name, () => interrupt.abort());
  await playAll(soak, {
    scenarios: scenarios(scenarioOf, { seed, runs, only }),
    lanes: Math.min(lanes, runs),
    patches: [...(soak.patches ?? []), ...(control === undefined ? [] : [controls[control]!].flat())],
    signal: interrupt.signal,
    onPlayed,
  });
  for (const line of tally.lines()) console.error(line);
  const seconds = Math.round((performance.now() - began) / 1000);
  console.log(
    JSON.stringify({ ...tally.toJSON(), control: control ?? null, only: only ?? null, seed, seconds }),
  );
  return tally.bad === 0 ? 0 : 1;
}

/** The first run has the seed itself, so that each one can be repeated alone. */
function* scenarios<Scenario>(
  scenarioOf: Soak<Scenario, string>["scenarioOf"],
  { seed, runs, only }: { seed: string; runs: number; only: string | undefined },
): Generator<Scenario> {
  for (let at = 0; at < runs; at++) yield scenarioOf(at === 0 ? seed : `${seed}.${at}`, only);
}

function refuse(why: string): number {
  console.error(why);
  return 2;
}
