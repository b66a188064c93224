import type { Context } from "./context.ts";
import { findCommand } from "./find-command.ts";
import { version } from "./version.ts";

/*
 * Little is imported up here: `cat --version` is asked for by scripts and at every look at a machine, and must cost
 * hardly more than Node's own start.
 */

/** Runs a command line and tells the exit status; nothing in here ends the process. */
export async function main(argv: readonly string[], context: Context): Promise<number> {
  try {
    if (findCommand(argv)?.name === "--version") {
      await context.stdout.write(`catalogue ${version}\n`);
      return 0;
    }
    const { run } = await import("./run.ts");
    return await run(argv, context);
  } catch (error) {
    const { endWith } = await import("./end-with.ts");
    return await endWith(error, argv, context);
  } finally {
    context.release?.();
  }
}
