import type { App } from "../../../app/app.ts";
import { jsonLine } from "../../../output/json.ts";

/** Prints a warning and its next step on stderr: JSON with `--json`, nothing with `--quiet`. */
export async function warn({ io }: Pick<App, "io">, message: string, hint?: string): Promise<void> {
  if (io.json) return io.line(jsonLine({ warning: { message: io.visible(message), hint } }).trimEnd());
  const words = `${io.paintNote.yellow("warning:")} ${io.visible(message)}`;
  if (!io.quiet) await io.line(hint === undefined ? words : `${words}\n${hint}`);
}
