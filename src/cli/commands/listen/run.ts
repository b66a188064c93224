import { type EventPattern, type Handler, matches, matchingTypes } from "../../../flows/listen/forward.ts";
import { listen, type OpenListener } from "../../../flows/listen/listen.ts";
import type { UnacceptedEvents } from "../../../flows/listen/log-lines.ts";
import type { OnPoll } from "../../../flows/listen/poller.ts";
import { counted } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { newRunId } from "../../app/run-flow.ts";
import { cannotListen } from "../../context/cannot-listen.ts";
import { ExitCode, InterruptError, toExitCode } from "../../context/errors.ts";
import { commandLine } from "../../output/command-words.ts";
import { jsonLine } from "../../output/visible.ts";
import { signatureHeaderInUse } from "../../settings/settings.ts";
import { runAnother } from "../serve/run-another.ts";
import { cannotCome, longestWaitMs, nothingCame, nothingLeft, timedOut } from "./after-command.ts";
import { openPoster } from "./handlers.ts";
import { plainView } from "./plain-view.ts";
import { eventLogPath, eventSource } from "./source.ts";

/** The flags of `cat webhooks listen`, as commander parses them. */
export interface ListenFlags {
  readonly port: number;
  readonly host: string;
  readonly path?: string;
  readonly publicUrl?: string;
  readonly poll: boolean;
  /** Whether the webhook of the listener stays at the end. */
  readonly keepWebhook: boolean;
  /** The events to show and to forward; all without it. */
  readonly events?: EventPattern;
  /** The handlers of all events, and those of some. */
  readonly forwardTo?: readonly Handler[];
  readonly route?: readonly Handler[];
  /** The maximum age of a signature in seconds. */
  readonly tolerance: number;
  readonly log?: string;
  readonly printSecret: boolean;
  readonly details: boolean;
  readonly plain: boolean;
  readonly wait?: EventPattern;
  readonly count?: number;
  /** In milliseconds. */
  readonly timeout?: number;
}

/**
 * Listens until the interrupt, which is the usual end and exits with 0; until the goal; or until the command
 * has ended, whose exit status is used. With a goal and a command: until both.
 */
export async function listenForEvents(
  app: App,
  flags: ListenFlags,
  command: readonly [string, ...string[]] | null,
): Promise<void> {
  const { context, globals, io } = app;
  const { wait, count = 1, timeout, printSecret, publicUrl } = flags;
  const goal: Goal | null =
    wait === undefined && flags.count === undefined ? null : { events: wait ?? ["*"], count };
  const handlers = [...(flags.forwardTo ?? []), ...(flags.route ?? [])];
  const { clock, interrupt } = context;
  const stop = new AbortController();
  const signal = AbortSignal.any([interrupt, stop.signal]);
  const { source, warnings } = await eventSource(app, flags);
  const logPath = await eventLogPath(app, flags.log);
  const headerName = await signatureHeaderInUse(globals, context);
  const client = flags.details ? await app.client() : null;
  // Long bodies and many slow senders must not fill the memory.
  context.keepHeapSmall?.();

  // Stdout belongs to the command.
  const write = async (text: string) => {
    if (command === null) await (io.json ? io.data(text) : io.text(text));
    else if (!io.quiet) await context.stderr.write(text);
  };
  let isQuit = false;
  const quit = () => {
    isQuit = true;
    stop.abort();
  };
  const hangUp = () => stop.abort(new InterruptError("SIGHUP"));
  const screen =
    flags.plain || command !== null || (await context.inBackground?.()) === true
      ? null
      : (await import("./screen-view.ts")).openScreen(app, {
          client,
          signal,
          onQuit: quit,
          onHangUp: hangUp,
        });
  const view = screen ?? plainView(app, { write, client, signal });
  const onNote = (sentence: string) =>
    screen === null ? void io.note(io.visible(sentence)) : screen.note(sentence);
  for (const warning of warnings) view.onProblem(warning);
  let missing = goal?.count ?? 0;
  let isRunning = command !== null;
  const endIfDone = () => {
    if (missing <= 0 && !isRunning) stop.abort();
  };
  const cameSoFar = () => (goal === null ? null : { count: goal.count, missing });
  let cancel =
    timeout === undefined
      ? () => {}
      : clock.at(clock.now() + timeout, () => stop.abort(timedOut(timeout, cameSoFar())));

  /** Bounds the wait for the next event after the end of the command; polls have a bound of their own. */
  const waitNoLonger = () => {
    if (timeout !== undefined || source.kind === "poll") return;
    cancel();
    cancel = clock.at(clock.now() + longestWaitMs, () => stop.abort(nothingCame(cameSoFar()!)));
  };
  let running: Promise<void> = Promise.resolve();
  const runCommand = async (listening: OpenListener) => {
    // What the command starts is at the service that is listened to, which a private mock is only with its
    // own key.
    const mock = globals.mock ? await app.connection() : null;
    const env = {
      CAT_API_KEY: mock?.apiKey ?? context.env.CAT_API_KEY,
      ...(mock !== null && { CAT_BASE_URL: mock.baseUrl }),
      CAT_WEBHOOK_SECRET: listening.secret,
      ...(listening.url !== null && { CAT_WEBHOOK_URL: listening.url }),
    };
    try {
      app.exit = await runAnother(context, command!, env, {
        stop: stop.signal,
        // Nothing that the command has started outlives the timeout.
        hasOwnGroup: timeout !== undefined,
      });
      isRunning = false;
      if (app.exit !== 0 || missing <= 0) return stop.abort();
      waitNoLonger();
      // What it has done to the webhook is known now, not in a minute.
      await listening.checkWebhook?.();
    } catch (error) {
      stop.abort(error);
    }
  };

  const awaited = new Set(matchingTypes(goal?.events ?? []).map((type) => type.split(".")[0]!));
  const onPoll: OnPoll = () => {
    // What the command has started is known to a poll that starts later.
    const isLast = command !== null && !isRunning;
    return ({ inProgress, ended }) => {
      const isAwaited = (resource: string) => awaited.has(resource);
      if (!isLast || missing <= 0 || [...inProgress].some(isAwaited)) return;
      // Something came, but not what was awaited: a failure, or fewer than --count.
      if ([...ended].some(isAwaited)) return stop.abort(nothingLeft(cameSoFar()!));
      const what = goal!.events.includes("*") ? "event" : goal!.events.join(" or ");
      onNote(`No ${what} came, because nothing was in progress.`);
      stop.abort();
    };
  };

  let webhookId: string | null = null;
  let onLeft!: () => void;
  const left = new Promise<void>((resolve) => {
    onLeft = resolve;
  });
  const unregister = context.onStop(
    () => {
      if (webhookId === null) return;
      void context.stderr.write(
        io.asCalled(
          `Webhook ${webhookId} was not deleted. The next cat webhooks listen at its URL takes it over.\n`,
        ),
      );
    },
    source.kind === "webhook" ? left : undefined,
  );
  try {
    await listen(
      {
        source,
        host: flags.host,
        port: flags.port,
        path: flags.path ?? (publicUrl === undefined ? "/" : new URL(publicUrl).pathname),
        logPath,
        handlers,
        events: flags.events ?? null,
        awaited: goal?.events ?? null,
        headerName,
        toleranceSeconds: flags.tolerance,
      },
      {
        clock,
        pid: context.pid,
        runId: newRunId(clock.now()),
        signal,
        send: await openPoster(app),
        view: {
          ...view,
          async onEvent(event, delivery, onShowing) {
            await view.onEvent(event, delivery, onShowing);
            if (goal === null || !matches(goal.events, event.type)) return;
            missing--;
            endIfDone();
            if (command !== null && !isRunning) waitNoLonger();
          },
        },
        onNote,
        onPoll,
        onWebhook(webhook) {
          webhookId = webhook?.id ?? null;
          if (webhook === null) onLeft();
          else if (!printSecret) app.secrets.add(webhook.secret);
        },
        endsBy: (fault, id) =>
          command !== null && !isRunning && missing > 0 ? cannotCome(fault, id, cameSoFar()!) : null,
        onUnaccepted: (events) => view.onProblem(...unacceptedNote(app, events, flags.log, logPath)),
        async onListening(listening) {
          const { url, secret, webhookId: id } = listening;
          const polled = url === null ? (await app.connection()).baseUrl : null;
          if (printSecret) app.secrets.show(secret);
          else app.secrets.add(secret);
          const shown = { listening: url, webhook_id: id };
          if (io.json) await write(jsonLine({ ...shown, ...(printSecret && { signing_secret: secret }) }));
          else {
            const place = io.paintNote.bold(io.visible(url ?? polled!));
            const webhook = id === null ? "" : ` with webhook ${id}`;
            const where = url === null ? `Polling ${place}.` : `Listening on ${place}${webhook}.`;
            const end = isRunning ? "" : " To stop, press Ctrl-C.";
            await io.note(`${where}${end}\nEvents are stored in ${io.visible(logPath)}.`);
            if (source.kind === "webhook" && source.secret !== null && handlers.length > 0)
              await io.note("Handlers get deliveries that are signed with CAT_WEBHOOK_SECRET.");
            if (printSecret) await io.note(`Signing secret: ${secret}`);
          }
          if (command !== null) running = runCommand(listening);
          const urls = [...new Set(handlers.map((handler) => handler.url))];
          const target =
            urls.length === 0 ? "" : `to ${urls.length === 1 ? urls[0] : counted(urls.length, "handler")}`;
          const title = url ?? `polling ${polled}`;
          screen?.open({ title, target, secret: printSecret ? secret : undefined }, listening.resend);
        },
      },
    );
    await running;
  } catch (error) {
    stop.abort(error);
    await running;
    throw cannotListen(error, flags);
  } finally {
    cancel();
    onLeft();
    unregister();
    await view.close();
  }
  if (stop.signal.reason instanceof Error && stop.signal.reason.name !== "AbortError")
    throw stop.signal.reason;
  const isWaiting = goal !== null && missing > 0;
  if (isQuit && isWaiting) app.exit = ExitCode.interrupted;
  if (!interrupt.aborted || command !== null) return;
  // Ctrl-C is the usual end of a listener, but not of one that waits for an event.
  const { reason } = interrupt;
  const isUsual = reason instanceof InterruptError && reason.signal === "SIGINT" && !isWaiting;
  app.exit = isUsual ? 0 : toExitCode(reason);
}

/** What to wait for. */
interface Goal {
  readonly events: EventPattern;
  readonly count: number;
}

/**
 * A warning about events of the last day that a handler has not accepted, and the command that sends them
 * again. `log` is `--log` as typed.
 */
function unacceptedNote(
  { globals, io }: App,
  { count, urls }: Pick<UnacceptedEvents, "count" | "urls">,
  log: string | undefined,
  logPath: string,
): [message: string, hint: string] {
  const [url] = urls;
  // With several handlers the user chooses.
  const to = urls.length === 1 && url !== undefined && io.visible(url) === url ? url : "URL";
  const words = ["webhooks", "replay", "--failed", "--since", "24h", "--to", to];
  if (log !== undefined) words.push("--log", logPath);
  const line = commandLine(words, { profile: globals.profile, baseUrl: undefined });
  return [
    `a handler did not accept ${counted(count, "event")} of the last 24 h in ${logPath}`,
    `To send ${count === 1 ? "it" : "them"} again: ${line}`,
  ];
}
