// Preloaded into a measured process: prints its peak memory (MB), its processor time and that without the system's (ms) on stdout when it
// ends.
import { readFileSync } from "node:fs";

process.on("exit", () => {
  const { user, system } = process.cpuUsage();
  process.stdout.write(
    `peak ${Math.round(peakKilobytes() / 1024)} cpu ${Math.round((user + system) / 1000)} user ${Math.round(user / 1000)}\n`,
  );
});

/** On Linux the kernel's peak of this program alone: `maxRSS` starts with the peak of the parent process. */
function peakKilobytes() {
  if (process.platform !== "linux") return process.resourceUsage().maxRSS;
  return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]);
}
