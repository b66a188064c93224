// Imports that are killed, cut off and rejected at every step, and what the service has at the end: `npm run soak:import`.
import { runSoak } from "../soak.ts";
import { importSoak } from "./import-soak.ts";

process.exitCode = await runSoak(importSoak);
