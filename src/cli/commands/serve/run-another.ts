import { constants } from "node:os";
import type { Context } from "../../context/context.ts";
import { NotStartedError } from "../../context/errors.ts";

/**
 * Runs another program to its end, with our streams and with `env` beside our environment; signals go on to it. Resolves to
 * its exit status, which is 128 and the signal's number where one ended it. Throws NotStartedError.
 */
export async function runAnother(
  context: Pick<Context, "cwd" | "env" | "passSignals">,
  [program, ...args]: readonly [string, ...string[]],
  env: Readonly<Record<string, string>>,
): Promise<number> {
  const { spawn } = await import("node:child_process");
  let deliver: ((signal: NodeJS.Signals) => void) | null = null;
  const early: NodeJS.Signals[] = [];
  // Before the start: a signal that came right after it would end us and leave the other one behind.
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
        for (const signal of early) deliver(signal);
      } catch (error) {
        // Such as an argument with a NUL in it, which no program can be given.
        fail(error as NodeJS.ErrnoException);
      }
    });
  } finally {
    release();
  }
}
