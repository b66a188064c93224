import { type Command, Option } from "commander";
import { CatError } from "../../../errors.ts";
import type { EventSelection } from "../../../flows/listen/logged-events.ts";
import type { App } from "../../app/app.ts";
import { UsageError } from "../../context/errors.ts";
import { command, examples } from "../../flags/command.ts";
import { duration } from "../../flags/duration.ts";
import { handlerUrl } from "../../flags/handler-url.ts";
import { type RawPrintFlags, readPrintFlags, withPrintFlags } from "../../flags/print-flags.ts";
import type { Printing } from "../../output/printing.ts";
import { type Delivered, deliveredForm, reportDelivered, toDelivered } from "./delivered.ts";
import { openTarget } from "./open-target.ts";

interface ReplayInput extends Omit<EventSelection, "since"> {
  /** The longest time since the arrival of an event, in milliseconds. */
  sinceMs: number | undefined;
  to: URL;
  /** The log as typed; undefined for the one of the profile. */
  log: string | undefined;
  printing: Printing<Delivered>;
}

/** `cat webhooks replay`: parses the arguments and the flags; `run` does the work. */
export const replayCommand = (app: App, run = replay): Command =>
  withPrintFlags(
    command("replay")
      .summary("send events of the log to a handler again")
      .usage("[ID ...] --to URL [flags]")
      .description(
        "Send events that cat webhooks listen has received to a handler again, oldest first. " +
          "Each one is signed afresh with CAT_WEBHOOK_SECRET. The log is not changed.",
      )
      .argument("[ID...]", "IDs of events (evt_...)")
      .addOption(new Option("--to <URL>", "URL of the handler").argParser(handlerUrl).makeOptionMandatory())
      .addOption(
        new Option("--since <TIME>", "events of the last TIME, e.g. 30m, 2h, 7d").argParser(duration),
      )
      .option("--failed", "only events that a handler has not accepted")
      .option("--log <FILE>", "event log (default: that of the profile)"),
  )
    .addHelpText(
      "after",
      examples([
        [
          "send the failed events of the last two hours again",
          "cat webhooks replay --since 2h --failed --to URL",
        ],
        ["send one event again", "cat webhooks replay evt_01KE6W9ZJ8Q3V5X7B2D4F6H8JK --to URL"],
      ]),
    )
    .action(
      async (
        ids: string[],
        {
          to,
          since,
          failed = false,
          log,
          ...flags
        }: { to: URL; since?: number; failed?: boolean; log?: string } & RawPrintFlags,
      ) => {
        if (ids.some((id) => id.trim() === ""))
          throw new UsageError("the event ID is empty", { param: "ID", hint: "Use the complete ID." });
        if (ids.length === 0 && since === undefined && !failed) {
          throw new UsageError("no events chosen", {
            code: "missing_selection",
            hint: "Add event IDs, --since TIME or --failed.",
          });
        }
        const printing = readPrintFlags(flags, deliveredForm);
        await run(app, { ids, sinceMs: since, failed, to, log, printing });
      },
    );

/** Sends events of the log again. Exits with 5 for an ID that the log does not have; then nothing is sent. */
export async function replay(
  app: App,
  { ids, sinceMs, failed, to, log, printing }: ReplayInput,
): Promise<void> {
  const { eventLogPath } = await import("./listen/log-path.ts");
  const { loggedEvents } = await import("../../../flows/listen/logged-events.ts");
  const { deliver } = await import("../../../flows/listen/trigger.ts");
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
  const target = await openTarget(app, to);
  const delivered: Delivered[] = [];
  async function* deliveries() {
    for (const { id, type, body } of events) {
      const one = toDelivered(id, type, to, await deliver(target, body));
      delivered.push(one);
      yield one;
    }
  }
  await app.io.show(printing, deliveries());
  await reportDelivered(app, delivered);
}
