import { ExitCode, PartialError } from "../context/errors.ts";
import type { App } from "./app.ts";

/**
 * Ends a command of which a part failed with 8. Throws a PartialError for programs, and for people with --quiet, whom no
 * other line tells why; called last.
 */
export function reportPartial(app: App, message: string, detail?: { code?: string; hint?: string }): void {
  app.exit = ExitCode.partial;
  if (app.io.json || app.io.quiet) throw new PartialError(message, detail);
}
