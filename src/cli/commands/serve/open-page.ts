import { once } from "node:events";
import type { Context } from "../../context/context.ts";

/** The program of a platform that opens a URL in the user's browser; xdg-open on all others. */
const openers: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  // `start` takes its first argument in quotes for a title.
  win32: ["cmd", "/c", "start", '""'],
};

/** Opens a URL in the user's browser. False if this machine has no program for that. */
export async function openPage({ cwd, env }: Pick<Context, "cwd" | "env">, url: string): Promise<boolean> {
  const { spawn } = await import("node:child_process");
  const [program, ...args] = openers[process.platform] ?? ["xdg-open"];
  const child = spawn(program, [...args, url], { cwd, env, detached: true, stdio: "ignore" });
  // The browser stays open when the mock ends.
  child.unref();
  return once(child, "spawn").then(
    () => true,
    () => false,
  );
}
