import { asFileError } from "../errors.ts";
import { asCalled } from "./as-called.ts";
import type { Context } from "./context/context.ts";
import { InterruptError } from "./context/errors.ts";
import { exitCodeOf } from "./context/exit.ts";
import { earlyFlags } from "./early-flags.ts";
import { explain } from "./output/explain.ts";
import { paintOf } from "./output/paint.ts";
import type { Secrets } from "./output/secrets.ts";
import { lineWidth } from "./output/wrapped.ts";

/** Prints an error on stderr, without the secrets of the user, and returns its exit status. */
export async function tell(
  thrown: unknown,
  argv: readonly string[],
  context: Context,
  secrets: Secrets,
): Promise<number> {
  // Work in progress at an interrupt fails with its own errors; report the interrupt instead.
  const { interrupt } = context;
  const isInterrupt = interrupt.aborted && !(thrown instanceof InterruptError);
  const error = isInterrupt ? interrupt.reason : asFileError(thrown);
  const { json, verbose, color } = earlyFlags(argv);
  const named = asCalled(context.program, argv);
  const mask = (text: string) => secrets.mask(named(text));
  const { red } = await paintOf(context, "stderr", color);
  const text = explain(error, { json, verbose, width: lineWidth(context.stderr), mask, paint: red });
  if (text !== "") await context.stderr.write(text);
  return exitCodeOf(error);
}
