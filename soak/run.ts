// Imports that are killed, cut off and refused at every step, and what the service holds in the end: `npm run soak:import`.
import { parseArgs } from "node:util";
import { soak } from "./soak.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "520" },
    seed: { type: "string", default: "1" },
    only: { type: "string" },
    control: { type: "string" },
    lanes: { type: "string", default: "4" },
  },
});
process.exitCode = await soak(values);
