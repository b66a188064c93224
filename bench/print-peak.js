// Preloaded into a measured process: leaves its peak memory, in MB, on stdout when it ends.
import { readFileSync } from "node:fs";

process.on("exit", () => process.stdout.write(`peak ${Math.round(peakKilobytes() / 1024)}\n`));

/** On Linux what the kernel knows of this program alone: `maxRSS` begins with the peak of the process that started it. */
function peakKilobytes() {
  if (process.platform !== "linux") return process.resourceUsage().maxRSS;
  return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]);
}
