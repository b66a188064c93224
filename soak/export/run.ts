// Exports that are stopped, cut off and rejected at every step: `npm run soak:export`.
import { runSoak } from "../soak.ts";
import { exportSoak } from "./export-soak.ts";

process.exitCode = await runSoak(exportSoak);
