import { readFileSync } from "node:fs";
import { until } from "./until.ts";

/** Waits until no signal is pending: the system may deliver two in any order. */
export async function delivered(pid: number): Promise<void> {
  const isPending = () => !/^ShdPnd:\s*0+$/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  if (process.platform === "linux") await until(() => !isPending(), { pauseMs: 1 });
  else await new Promise((resolve) => setTimeout(resolve, 10));
}
