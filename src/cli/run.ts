import { createApp } from "./app.ts";
import type { Context } from "./context.ts";
import { noGlobals } from "./global-options.ts";
import { createProgram } from "./program.ts";

/** Parses the command line, runs the command and closes what it opened. Tells the exit status; errors are thrown. */
export async function run(argv: readonly string[], context: Context): Promise<number> {
  const globals = noGlobals();
  const { app, close } = createApp(context, globals);
  try {
    const program = await createProgram(app, argv);
    await program.parse();
    return app.exit;
  } finally {
    await close();
  }
}
