// Loaded before the program: its clock shows another time, and its end records the memory and the processor time that it took.
import { readFileSync, writeFileSync } from "node:fs";

const now = Date.now;
const aheadMs = Number(process.env.SOAK_AHEAD_MS);
Date.now = () => now() + aheadMs;
process.on("exit", () => {
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  // Its own peak: that of `resourceUsage` begins with the memory of the parent.
  const [, peak] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
  const used = { rss: Number(peak) * 1024, cpuMs: (userCPUTime + systemCPUTime) / 1000 };
  writeFileSync(process.env.SOAK_USED ?? "", JSON.stringify(used));
});
