// Loaded before the program: its clock shows another time, and its end records the memory and the processor time that it took.
import { writeFileSync } from "node:fs";

const now = Date.now;
const aheadMs = Number(process.env.SOAK_AHEAD_MS);
Date.now = () => now() + aheadMs;
process.on("exit", () => {
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
  const used = { rss: maxRSS * 1024, cpuMs: (userCPUTime + systemCPUTime) / 1000 };
  writeFileSync(process.env.SOAK_USED ?? "", JSON.stringify(used));
});
