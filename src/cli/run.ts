import { createApp } from "./app/app.ts";
import { asCalled } from "./as-called.ts";
import type { Context } from "./context/context.ts";
import { noGlobals } from "./context/global-options.ts";
import { earlyFlags } from "./early-flags.ts";
import { paintOf } from "./output/paint.ts";
import type { Secrets } from "./output/secrets.ts";
import { createProgram } from "./program.ts";

/**
 * Parses the command line, runs the command and closes its resources. Returns the exit status; errors are
 * thrown.
 */
export async function run(argv: readonly string[], context: Context, secrets: Secrets): Promise<number> {
  const { color } = earlyFlags(argv);
  const { app, close } = createApp(context, noGlobals(), {
    secrets,
    asCalled: asCalled(context.program, argv),
    paint: await paintOf(context, "stdout", color),
    paintNote: await paintOf(context, "stderr", color),
  });
  try {
    const program = await createProgram(app, argv);
    await program.parse();
    return app.exit;
  } catch (error) {
    throw app.lastFailure.addTo(error);
  } finally {
    await close();
  }
}
