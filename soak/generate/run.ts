// Try-ons and beautified shots that are stopped, cut off and rejected at every step: `npm run soak:generate`.
import { runSoak } from "../soak.ts";
import { generateSoak } from "./generate-soak.ts";

process.exitCode = await runSoak(generateSoak);
