import { type Command, InvalidArgumentError, Option } from "commander";
import { limits, optionRanges } from "../../../contract/limits.ts";
import { isLoopbackHost, parseUrl } from "../../../contract/url-policy.ts";
import { type Handler, overlap } from "../../../flows/listen/forward.ts";
import type { App } from "../../app/app.ts";
import { UsageError } from "../../context/errors.ts";
import { type CommandTexts, command, group, otherFlags } from "../../flags/command.ts";
import { timeoutFlag } from "../../flags/common-flags.ts";
import { conflict } from "../../flags/usage-error.ts";
import { hostName, readProgram, wholeNumber } from "../../flags/values.ts";
import { eventPatterns, handlerUrl } from "./event-types.ts";
import type { ListenFlags } from "./run.ts";

/** The group `webhooks` with this command alone: nothing of the others is loaded for it. */
export const listenGroup = (app: App): Command => group("webhooks", "", [listenCommand(app)]);

const texts: CommandTexts = {
  summary: "receive events on this machine, and show and forward them",
  usage: "[flags] [-- COMMAND ARG...]",
  about:
    "Receive events on this machine, check their signature, store them in a log, and show them.\n\n" +
    "With a service on this machine, or with --public-url, the command creates a webhook and deletes it at " +
    "the end. Without, it needs CAT_WEBHOOK_SECRET. With --poll it needs no webhook. " +
    "Handlers check signatures with CAT_WEBHOOK_SECRET if it is set, else with the secret of the webhook.\n\n" +
    "It runs until you press Ctrl-C. With a COMMAND it ends with that command, and exits with its status.",
  examples: [
    ["show the events of the mock service", "cat webhooks listen --base-url http://127.0.0.1:4010"],
    [
      "send events on to a server that you develop",
      "cat webhooks listen --poll --forward-to http://127.0.0.1:3000/events",
    ],
    ["wait for an import", "cat webhooks listen --poll --wait import.completed --timeout 30m"],
    ["run tests that need events", "cat webhooks listen --json -- npm test"],
  ],
};

export const listenCommand = (app: App): Command =>
  otherFlags(addFlags(command("listen", texts))).action(async (flags: ListenFlags) => {
    checkPatterns(flags);
    checkHandlers(flags);
    if (flags.details && app.globals.json) {
      const hint = "Fetch the resource of an event, for example: cat imports get ID --json";
      throw conflict("--details", "--json", hint);
    }
    const program = readProgram(app.commandLine, "cat webhooks listen -- npm test");
    const { listenForEvents } = await import("./run.ts");
    await listenForEvents(app, flags, program);
  });

const addFlags = (listen: Command): Command =>
  listen
    .optionsGroup("Source:")
    .option("--port <PORT>", "port to listen on, or 0 for a free one", wholeNumber(optionRanges.port), 4242)
    .option("--host <HOST>", "address to listen on", hostName, "127.0.0.1")
    .addOption(
      new Option("--path <PATH>", "path that receives events")
        .default(undefined, "/, or the path of --public-url")
        .argParser(urlPath),
    )
    .option("--public-url <URL>", "https:// URL of a tunnel to this machine, for a new webhook", publicUrl)
    .addOption(
      new Option("--poll", "ask the service for ended tasks and jobs, without a webhook")
        .default(false)
        .conflicts("publicUrl"),
    )
    .addOption(
      new Option("--keep-webhook", "keep the webhook and its secret for the next run, instead of deleting it")
        .default(false)
        .conflicts("poll"),
    )
    .option(
      "--tolerance <S>",
      "maximum age of a signature in seconds",
      wholeNumber(optionRanges.toleranceSeconds),
      limits.signatureToleranceSeconds,
    )
    .optionsGroup("Events:")
    .option(
      "--events <EVENTS>",
      "events to show and forward, e.g. import.*,task.failed (repeatable; default: all)",
      eventPatterns,
    )
    .option("--forward-to <URL>", "handler that gets every event (repeatable)", handlers(toAll))
    .option("--route <EVENTS=URL>", "handler that gets some events (repeatable)", handlers(toSome))
    .option("--log <FILE>", "event log (default: a file next to the state of the profile)")
    .optionsGroup("End:")
    .option("--wait <EVENT>", "exit with 0 once this event came (repeatable: one of them)", eventPatterns)
    .option("--count <N>", "exit with 0 once N events came", wholeNumber({ min: 1 }))
    .addOption(timeoutFlag("how long to listen"))
    .optionsGroup("Output:")
    .option("--details", "fetch each task, import or export, and show more of it", false)
    .option("--print-secret", "show the signing secret", false)
    .option("--plain", "print one line per event, also on a terminal", false);

const handlers =
  (toHandler: (text: string) => Handler) =>
  (text: string, earlier: readonly Handler[] = []): Handler[] => [...earlier, toHandler(text)];

const toAll = (text: string): Handler => ({ url: handlerUrl(text).href, events: ["*"] });

/** Parses `EVENTS=URL`. */
function toSome(text: string): Handler {
  const equals = text.indexOf("=");
  if (equals >= 1)
    return { url: handlerUrl(text.slice(equals + 1)).href, events: eventPatterns(text.slice(0, equals)) };
  throw new InvalidArgumentError("use EVENTS=URL, for example 'import.*=http://127.0.0.1:3000/imports'");
}

/** Parses `--public-url`. The service accepts only public https:// URLs, and says so itself. */
function publicUrl(text: string): string {
  const url = parseUrl(text.trim());
  if (url !== null && /^https?:$/.test(url.protocol)) return url.href;
  throw new InvalidArgumentError("use the https:// URL of a tunnel to this machine");
}

function urlPath(text: string): string {
  if (/^\/[\x21-\x22\x24-\x3e\x40-\x7e]*$/.test(text)) return text;
  throw new InvalidArgumentError("use a path that starts with /, without ? and #");
}

/** Throws a UsageError for a wait that cannot end, or a route that no event can take. */
function checkPatterns({ events, wait, route: routes = [] }: ListenFlags): void {
  if (events === undefined) return;
  const hint = "Add the event to --events, or remove --events.";
  const excluded = (param: string, message: string) =>
    new UsageError(`${message} with --events ${events}`, { code: "conflicting_option", param, hint });
  if (wait !== undefined && !overlap(wait, events)) throw excluded("--wait", `--wait ${wait} never ends`);
  const route = routes.find((handler) => !overlap(handler.events, events));
  if (route !== undefined) throw excluded("--route", `--route ${route.events}=URL never gets an event`);
}

/** Throws a UsageError if a handler is the listener itself: an event would be sent to it again and again. */
function checkHandlers(flags: ListenFlags): void {
  const { forwardTo = [], route = [], host, port, publicUrl: outside, poll } = flags;
  if (poll) return;
  const own = [...forwardTo, ...route].find(({ url }) => {
    const { host: place, hostname, port: given, protocol } = new URL(url);
    const usual = protocol === "https:" ? 443 : 80;
    const isOutside = outside !== undefined && place === new URL(outside).host;
    return isOutside || ((Number(given) || usual) === port && isOwnHost(hostname, host));
  });
  if (own === undefined) return;
  throw new UsageError(`cannot forward events to ${own.url}: it is this listener`, {
    code: "forwards_to_itself",
    hint: "Use the URL of your handler, or another --port.",
  });
}

const isOwnHost = (hostname: string, own: string): boolean =>
  isLoopbackHost(hostname) ||
  [own.toLowerCase(), `[${own.toLowerCase()}]`, "0.0.0.0", "[::]"].includes(hostname);
