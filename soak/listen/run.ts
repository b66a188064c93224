// A listener that is stopped, killed, flooded, and disturbed otherwise: `npm run soak:listen`.
import { parseArgs } from "node:util";
import { copyProgram } from "../program-files.ts";
import { type Control, controls } from "./controls.ts";
import { floodFaults, playFlood } from "./flood.ts";
import { diskFaults, playDisk } from "./full-disk.ts";
import { killFaults, playKills } from "./kills.ts";
import { playPolls, pollFaults } from "./polls.ts";
import { playTakeovers, takeoverFaults } from "./takeovers.ts";
import { inAHurry, playTroubles, troubleFaults } from "./troubles.ts";

const { values: flags } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    control: { type: "string" },
    only: { type: "string" },
    seconds: { type: "string", default: "30" },
    rounds: { type: "string", default: "30" },
  },
});
const patches = flags.control === undefined ? [] : controls[flags.control as Control];
const { program, remove } = await copyProgram(patches);
const [seed, rounds] = [Number(flags.seed), Number(flags.rounds)];

/** Each part returns its counts, and what is wrong with them. */
const parts: Readonly<Record<string, () => Promise<readonly [counts: object, faults: readonly string[]]>>> = {
  async kills() {
    const plan = {
      ...{ program, seed, deliveries: 10_000, events: 1_000, concurrency: 64 },
      stops: ["SIGKILL", "SIGINT", "SIGKILL", "SIGINT", "SIGKILL", "SIGINT"] as const,
    };
    const counts = await playKills(plan);
    return [counts, killFaults(plan, counts)];
  },
  async takeovers() {
    const counts = await playTakeovers({ program, seed, kills: rounds, events: 15, refusals: 6 });
    return [counts, takeoverFaults(counts)];
  },
  async disk() {
    const counts = await playDisk({ program, seed, rounds: rounds * 5 });
    return [counts, diskFaults(counts)];
  },
  async polls() {
    const counts = await playPolls({ program, kills: Math.ceil(rounds / 3) });
    return [counts, pollFaults(counts)];
  },
  async troubles() {
    const hurried = await copyProgram([...inAHurry, ...patches]);
    try {
      const counts = await playTroubles({ program: hurried.program, seed, rounds });
      return [counts, troubleFaults(counts)];
    } finally {
      hurried.remove();
    }
  },
  async flood() {
    const counts = await playFlood({
      ...{ program, sockets: 1_000, longBodies: 4 },
      seconds: Number(flags.seconds),
    });
    return [counts, floodFaults(counts)];
  },
};

const wrong: string[] = [];
try {
  for (const [name, play] of Object.entries(parts)) {
    if (flags.only !== undefined && flags.only !== name) continue;
    const [counts, faults] = await play();
    wrong.push(...faults);
    console.log(JSON.stringify({ [name]: counts, seed, control: flags.control ?? null }));
  }
} finally {
  remove();
}
for (const fault of wrong) console.error(fault);
process.exitCode = wrong.length === 0 ? 0 : 1;
