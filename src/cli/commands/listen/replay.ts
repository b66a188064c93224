import type { Command } from "commander";
import { CatError } from "../../../errors.ts";
import type { App } from "../../app/app.ts";
import { UsageError } from "../../context/errors.ts";
import { command } from "../../flags/command.ts";
import { type RawPrintFlags, readPrintFlags, withPrintFlags } from "../../flags/print-flags.ts";
import { conflict } from "../../flags/usage-error.ts";
import { duration } from "../../flags/values.ts";
import { handlerUrl } from "./event-types.ts";

interface ReplayFlags extends RawPrintFlags {
  to: URL;
  /** The longest time since the arrival of an event, in milliseconds. */
  since?: number;
  failed?: true;
  /** The log as typed; undefined for the one of the profile. */
  log?: string;
}

export const replayCommand = (app: App): Command =>
  withPrintFlags(
    command("replay", {
      summary: "send events of the log to a handler again",
      usage: "[ID ...] --to URL [flags]",
      about:
        "Send events that cat webhooks listen has received to a handler again, oldest first. " +
        "Each one is signed afresh with CAT_WEBHOOK_SECRET. The log is not changed.",
      examples: [
        [
          "send the failed events of the last two hours again",
          "cat webhooks replay --since 2h --failed --to URL",
        ],
        ["send one event again", "cat webhooks replay evt_01KE6W9ZJ8Q3V5X7B2D4F6H8JK --to URL"],
      ],
    })
      .argument("[ID...]", "IDs of events (evt_...)")
      .requiredOption("--to <URL>", "URL of the handler", handlerUrl)
      .option("--since <TIME>", "events of the last TIME, e.g. 30m, 2h, 7d", duration)
      .option("--failed", "only events that a handler has not accepted")
      .option("--log <FILE>", "event log (default: that of the profile)"),
  ).action((ids: string[], flags: ReplayFlags) => replay(app, ids, flags));

/** Sends events of the log again. Exits with 5 for an ID that the log does not have; then nothing is sent. */
async function replay(app: App, ids: readonly string[], flags: ReplayFlags): Promise<void> {
  const { to, since: sinceMs, failed = false, log } = flags;
  if (ids.some((id) => id.trim() === ""))
    throw new UsageError("the event ID is empty", { param: "ID", hint: "Use the complete ID." });
  if (ids.length === 0 && sinceMs === undefined && !failed) {
    throw new UsageError("no events chosen", {
      code: "missing_selection",
      hint: "Add event IDs, --since TIME or --failed.",
    });
  }
  if (ids.length > 0 && sinceMs !== undefined)
    throw conflict("--since", "event IDs", "Remove --since, or the IDs.");
  const { deliverAll, deliveredForm, openTarget } = await import("./handlers.ts");
  const printing = readPrintFlags(flags, deliveredForm);
  const { eventLogPath } = await import("./source.ts");
  const { loggedEvents } = await import("../../../flows/listen/log-lines.ts");
  const path = await eventLogPath(app, log);
  const since = sinceMs === undefined ? null : app.context.clock.now() - sinceMs;
  const { events, unknown } = await loggedEvents(path, { ids, since, failed, mustExist: log !== undefined });
  if (unknown.length > 0) {
    throw new CatError(app.io.visible(`the log does not have ${unknown.join(", ")}`), {
      type: "not_found",
      code: "event_not_found",
      hint: `Check the ID in ${path}.`,
    });
  }
  if (events.length === 0)
    return app.io.note(failed ? "No failed events found in the log." : "No events found in the log.");
  await deliverAll(app, await openTarget(app, to), events, printing);
}
