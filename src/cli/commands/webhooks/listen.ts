import { type Command, Option } from "commander";
import { limits, optionRanges } from "../../../contract/limits.ts";
import type { EventPattern, Handler } from "../../../flows/listen/forward.ts";
import type { App } from "../../app/app.ts";
import { UsageError } from "../../context/errors.ts";
import { command, examples, otherFlags } from "../../flags/command.ts";
import { duration } from "../../flags/duration.ts";
import { hostName } from "../../flags/host-name.ts";
import { wholeNumber } from "../../flags/values.ts";
import { checkHandlers } from "./listen/check-handlers.ts";
import { checkPatterns } from "./listen/check-patterns.ts";
import { events, forwardTo, publicUrl, route, urlPath } from "./listen/flags.ts";
import { listenForEvents } from "./listen/run.ts";

interface Flags {
  port: number;
  host: string;
  path?: string;
  publicUrl?: string;
  poll?: true;
  events?: EventPattern;
  forwardTo?: Handler[];
  route?: Handler[];
  tolerance: number;
  log?: string;
  printSecret?: true;
  details?: true;
  plain?: true;
  wait?: EventPattern;
  count?: number;
  timeout?: number;
}

/** `cat webhooks listen`: parses the flags; `run` does the work. */
export const listenCommand = (app: App, run = listenForEvents): Command =>
  otherFlags(
    command("listen")
      .summary("receive events on this machine, and show and forward them")
      .usage("[flags] [-- COMMAND ARG...]")
      .description(
        "Receive events on this machine, check their signature, store them in a log, and show them.\n\n" +
          "With a service on this machine, or with --public-url, the command creates a webhook and deletes it at " +
          "the end. Without, it needs CAT_WEBHOOK_SECRET. With --poll it needs no webhook.\n\n" +
          "It runs until you press Ctrl-C. With a COMMAND it ends with that command, and exits with its status.",
      )
      .optionsGroup("Source:")
      .addOption(
        new Option("--port <PORT>", "port to listen on, or 0 for a free one")
          .default(4242)
          .argParser(wholeNumber(optionRanges.port)),
      )
      .addOption(new Option("--host <HOST>", "address to listen on").default("127.0.0.1").argParser(hostName))
      .addOption(
        new Option("--path <PATH>", "path that receives events")
          .default(undefined, "/, or the path of --public-url")
          .argParser(urlPath),
      )
      .addOption(
        new Option(
          "--public-url <URL>",
          "https:// URL of a tunnel to this machine, for a new webhook",
        ).argParser(publicUrl),
      )
      .addOption(
        new Option("--poll", "ask the service for ended tasks and jobs, without a webhook").conflicts(
          "publicUrl",
        ),
      )
      .addOption(
        new Option("--tolerance <S>", "maximum age of a signature in seconds")
          .default(limits.signatureToleranceSeconds)
          .argParser(wholeNumber(optionRanges.toleranceSeconds)),
      )
      .optionsGroup("Events:")
      .addOption(
        new Option(
          "--events <EVENTS>",
          "events to show and forward, e.g. import.*,task.failed (default: all)",
        ).argParser(events),
      )
      .addOption(
        new Option("--forward-to <URL>", "handler that gets every event (repeatable)").argParser(forwardTo),
      )
      .addOption(
        new Option("--route <EVENTS=URL>", "handler that gets some events (repeatable)").argParser(route),
      )
      .option("--log <FILE>", "event log (default: a file next to the state of the profile)")
      .optionsGroup("End:")
      .addOption(new Option("--wait <EVENT>", "exit with 0 once this event came").argParser(events))
      .addOption(
        new Option("--count <N>", "exit with 0 once N events came").argParser(wholeNumber({ min: 1 })),
      )
      .addOption(
        new Option(
          "--timeout <TIME>",
          "how long to listen, for example 90s, 30m, 2h (then: exit 7)",
        ).argParser(duration),
      )
      .optionsGroup("Output:")
      .option("--details", "fetch each task, import or export, and show more of it")
      .option("--print-secret", "show the signing secret")
      .option("--plain", "print one line per event, also on a terminal"),
  )
    .addHelpText(
      "after",
      examples([
        ["show the events of the mock service", "cat webhooks listen --base-url http://127.0.0.1:4010"],
        [
          "send events on to a server that you develop",
          "cat webhooks listen --poll --forward-to http://127.0.0.1:3000/events",
        ],
        ["wait for an import", "cat webhooks listen --poll --wait import.completed --timeout 30m"],
        ["run tests that need events", "cat webhooks listen --json -- npm test"],
      ]),
    )
    .action(async ({ forwardTo: all = [], route: some = [], wait, count, timeout, ...flags }: Flags) => {
      const handlers = [...all, ...some];
      checkPatterns({ events: flags.events, wait, routes: some });
      const { port, host, publicUrl, poll = false } = flags;
      checkHandlers(handlers, { port, host, publicUrl, poll });
      await run(app, {
        ...{ port, host, publicUrl, poll },
        path: flags.path,
        events: flags.events ?? null,
        handlers,
        toleranceSeconds: flags.tolerance,
        log: flags.log,
        printSecret: flags.printSecret === true,
        details: detailsOf(app, flags),
        isPlain: flags.plain === true,
        goal: wait === undefined && count === undefined ? null : { events: wait ?? ["*"], count: count ?? 1 },
        timeoutMs: timeout ?? null,
        command: commandOf(app.commandLine),
      });
    });

function detailsOf({ globals }: App, { details }: Pick<Flags, "details">): boolean {
  if (details !== true || !globals.json) return details === true;
  throw new UsageError("--details cannot be used with --json", {
    code: "conflicting_option",
    param: "--details",
    hint: "Fetch the resource of an event, for example: cat imports get ID --json",
  });
}

function commandOf(commandLine: readonly string[] | null): readonly [string, ...string[]] | null {
  if (commandLine === null) return null;
  const [program, ...args] = commandLine;
  if (program !== undefined && program !== "") return [program, ...args];
  throw new UsageError("no command after --", {
    code: "missing_command",
    hint: "Add one, for example: cat webhooks listen -- npm test",
  });
}
