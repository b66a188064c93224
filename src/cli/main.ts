import type { Context } from "./context/context.ts";
import { versionLine } from "./context/version.ts";
import { findCommand } from "./find-command.ts";
import { maskedContext, Secrets } from "./output/secrets.ts";
import { run } from "./run.ts";
import { tell } from "./tell.ts";

/** Runs a command line and returns the exit status, without ending the process. */
export async function main(argv: readonly string[], context: Context): Promise<number> {
  const secrets = new Secrets(context.env);
  const { masked, end } = maskedContext(context, secrets);
  try {
    if (findCommand(argv)?.name === "--version") await masked.stdout.write(versionLine);
    else return await run(argv, masked, secrets);
    return 0;
  } catch (error) {
    return await tell(error, argv, masked, secrets);
  } finally {
    await end();
    context.release?.();
  }
}
