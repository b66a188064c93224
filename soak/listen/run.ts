// A listener that is stopped, killed and flooded: `npm run soak:listen`.
import { parseArgs } from "node:util";
import { copyProgram } from "../program-files.ts";
import { type Control, controls } from "./controls.ts";
import { floodFaults, playFlood } from "./flood.ts";
import { killFaults, playKills } from "./kills.ts";

const { values: flags } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    control: { type: "string" },
    only: { type: "string" },
    seconds: { type: "string", default: "30" },
  },
});
const { program, remove } = await copyProgram(
  flags.control === undefined ? [] : controls[flags.control as Control],
);
const faults: string[] = [];
try {
  if (flags.only !== "flood") {
    const plan = {
      program,
      seed: Number(flags.seed),
      deliveries: 10_000,
      events: 1_000,
      concurrency: 64,
      stops: ["SIGKILL", "SIGINT", "SIGKILL", "SIGINT", "SIGKILL", "SIGINT"] as const,
    };
    const counts = await playKills(plan);
    faults.push(...killFaults(plan, counts));
    console.log(JSON.stringify({ kills: counts, seed: plan.seed, control: flags.control ?? null }));
  }
  if (flags.only !== "kills") {
    const counts = await playFlood({
      program,
      sockets: 1_000,
      longBodies: 4,
      seconds: Number(flags.seconds),
    });
    faults.push(...floodFaults(counts));
    console.log(JSON.stringify({ flood: counts }));
  }
} finally {
  remove();
}
for (const fault of faults) console.error(fault);
process.exitCode = faults.length === 0 ? 0 : 1;
