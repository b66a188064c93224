import { asFileError } from "../errors.ts";
import type { Context } from "./context/context.ts";
import { InterruptError } from "./context/errors.ts";
import { exitCodeOf } from "./context/exit.ts";
import { earlyFlags } from "./early-flags.ts";
import { explain } from "./output/explain.ts";
import { paintOf } from "./output/paint.ts";

/** Tells on stderr what went wrong, and gives the exit status that it means. */
export async function tell(thrown: unknown, argv: readonly string[], context: Context): Promise<number> {
  // What was under way when the interrupt came fails in its own words; the reason is the interrupt.
  const { interrupt } = context;
  const isInterrupt = interrupt.aborted && !(thrown instanceof InterruptError);
  const error = isInterrupt ? interrupt.reason : asFileError(thrown);
  const { json, verbose, color } = earlyFlags(argv);
  const { red } = await paintOf(context, "stderr", color);
  const text = explain(error, { json, verbose, paint: red });
  if (text !== "") await context.stderr.write(text);
  return exitCodeOf(error);
}
