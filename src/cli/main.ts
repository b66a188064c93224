import type { Context } from "./context.ts";
import { findCommand } from "./find-command.ts";
import { run } from "./run.ts";
import { tell } from "./tell.ts";
import { versionLine } from "./version.ts";

/** Runs a command line and tells the exit status; nothing in here ends the process. */
export async function main(argv: readonly string[], context: Context): Promise<number> {
  try {
    if (findCommand(argv)?.name !== "--version") return await run(argv, context);
    await context.stdout.write(versionLine);
    return 0;
  } catch (error) {
    return await tell(error, argv, context);
  } finally {
    context.release?.();
  }
}
