import { constants } from "node:os";
import type { Context } from "../../context/context.ts";
import { NotStartedError } from "../../context/errors.ts";

/**
 * Runs another program until it exits, with the streams of this process and `env` added to its environment, and
 * passes signals on. Resolves to its exit status: 128 plus the number of the signal if one ended it. Throws
 * NotStartedError. `stop` ends the program with SIGTERM.
 */
export async function runAnother(
  context: Pick<Context, "cwd" | "env" | "passSignals">,
  [program, ...args]: readonly [string, ...string[]],
  env: Readonly<Record<string, string>>,
  stop?: AbortSignal,
): Promise<number> {
  const { spawn } = await import("node:child_process");
  let deliver: ((signal: NodeJS.Signals) => void) | null = null;
  const early: NodeJS.Signals[] = [];
  // Listen before the start: a signal right after it would end this process and leave the child behind.
  const release = await context.passSignals((signal) => {
    if (deliver === null) early.push(signal);
    else deliver(signal);
  });
  try {
    return await new Promise<number>((resolve, reject) => {
      const fail = (error: NodeJS.ErrnoException) => reject(new NotStartedError(program, error));
      try {
        const child = spawn(program, args, {
          cwd: context.cwd,
          env: { ...context.env, ...env },
          stdio: "inherit",
        });
        child.once("error", fail);
        child.once("exit", (code, signal) => resolve(code ?? 128 + constants.signals[signal!]));
        deliver = (signal) => void child.kill(signal);
        stop?.addEventListener("abort", () => void child.kill("SIGTERM"), { once: true });
        for (const signal of early) deliver(signal);
      } catch (error) {
        // For example an argument with a NUL, which cannot be passed to a program.
        fail(error as NodeJS.ErrnoException);
      }
    });
  } finally {
    release();
  }
}
