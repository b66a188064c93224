import type { Context } from "./context.ts";
import { InterruptError } from "./errors.ts";
import { exitCodeOf } from "./exit.ts";
import { explain } from "./explain.ts";
import { painter } from "./output/paint.ts";

/** Tells an error on stderr and gives the exit status that it means. */
export async function endWith(thrown: unknown, argv: readonly string[], context: Context): Promise<number> {
  // What was under way when the interrupt came fails in its own words; the reason is the interrupt.
  const { interrupt } = context;
  const error = interrupt.aborted && !(thrown instanceof InterruptError) ? interrupt.reason : thrown;
  // Read from the arguments: a command line that is wrong was never parsed.
  const flags = argv.includes("--") ? argv.slice(0, argv.indexOf("--")) : argv;
  const color = !flags.includes("--no-color");
  const paint = painter({ isTTY: context.stderr.isTTY, env: context.env, wanted: color });
  const text = explain(error, {
    json: flags.includes("--json"),
    verbose: flags.includes("--verbose"),
    paint: paint.red,
  });
  if (text !== "") await context.stderr.write(text);
  return exitCodeOf(error);
}
