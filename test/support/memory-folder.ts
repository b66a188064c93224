import { accessSync, constants, readFileSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";

const memory = "/dev/shm";

/**
 * A folder in memory for temporary files: on a disk, each commit of a state waits for the disk. It is the usual folder
 * if TMPDIR is set, or if the machine has less than 4 GB of such memory or runs no programs from it.
 */
export function memoryFolder(): string {
  if (process.env.TMPDIR !== undefined) return tmpdir();
  try {
    accessSync(memory, constants.W_OK);
    const mounts = readFileSync("/proc/mounts", "utf8")
      .split("\n")
      .map((line) => line.split(" "));
    const options = mounts.find(([, folder]) => folder === memory)?.[3]?.split(",") ?? ["noexec"];
    const { bavail, bsize } = statfsSync(memory);
    return !options.includes("noexec") && bavail * bsize > 4e9 ? memory : tmpdir();
  } catch {
    return tmpdir();
  }
}
