// Preloaded into a measured process: prints its peak memory, in MB, on stdout when it ends.
import { readFileSync } from "node:fs";

process.on("exit", () => process.stdout.write(`peak ${Math.round(peakKilobytes() / 1024)}\n`));

/** On Linux the kernel's peak of this program alone: `maxRSS` starts with the peak of the parent process. */
function peakKilobytes() {
  if (process.platform !== "linux") return process.resourceUsage().maxRSS;
  return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]);
}
