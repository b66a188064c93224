import type { Handler } from "../../../../flows/listen/forward.ts";
import { type EventPattern, matches, typesOf } from "../../../../flows/listen/forward.ts";
import type { Listening } from "../../../../flows/listen/listen.ts";
import type { OnPoll } from "../../../../flows/listen/poller.ts";
import { counted } from "../../../../flows/words.ts";
import { TimeoutError } from "../../../../http/errors.ts";
import type { App } from "../../../app/app.ts";
import { newRunId } from "../../../app/run-id.ts";
import { cannotListen } from "../../../context/cannot-listen.ts";
import { InterruptError } from "../../../context/errors.ts";
import { ExitCode, exitCodeOf } from "../../../context/exit.ts";
import { jsonLine } from "../../../output/json.ts";
import { signatureHeaderInUse } from "../../../settings/signature-header.ts";
import { runAnother } from "../../serve/run-another.ts";
import { openPoster } from "../open-poster.ts";
import { greeting } from "./greeting.ts";
import { eventLogPath } from "./log-path.ts";
import { plainView } from "./plain-view.ts";
import type { ScreenOptions, ScreenView } from "./screen/screen-view.ts";
import { eventSource } from "./source.ts";
import { unacceptedNote } from "./unaccepted-note.ts";

/** The input of `cat webhooks listen`. */
export interface ListenFlags {
  readonly port: number;
  readonly host: string;
  readonly path: string | undefined;
  readonly publicUrl: string | undefined;
  readonly poll: boolean;
  readonly events: EventPattern | null;
  readonly handlers: readonly Handler[];
  readonly toleranceSeconds: number;
  readonly log: string | undefined;
  readonly printSecret: boolean;
  readonly details: boolean;
  readonly isPlain: boolean;
  /** What to wait for; null to listen until the interrupt, or until the command ends. */
  readonly goal: { readonly events: EventPattern; readonly count: number } | null;
  readonly timeoutMs: number | null;
  /** The program to run once listening, with its arguments. */
  readonly command: readonly [string, ...string[]] | null;
}

/**
 * Listens until the interrupt, which is the usual end and exits with 0; until the goal; or until the command has
 * ended, whose exit status is used. With a goal and a command: until both.
 */
export async function listenForEvents(app: App, flags: ListenFlags): Promise<void> {
  const { context, globals, io } = app;
  const { clock, interrupt } = context;
  const stop = new AbortController();
  const signal = AbortSignal.any([interrupt, stop.signal]);
  const { source, warnings } = await eventSource(app, flags);
  const logPath = await eventLogPath(app, flags.log);
  const headerName = await signatureHeaderInUse(globals, context.env);
  const client = flags.details ? await app.client() : null;
  // Long bodies and many slow senders must not fill the memory.
  context.keepHeapSmall?.();
  const { randomUUID } = await import("node:crypto");
  const { listen } = await import("../../../../flows/listen/listen.ts");

  const { command, goal } = flags;
  // Stdout belongs to the command.
  const write = async (text: string) => {
    if (command === null) await io.data(text);
    else if (!io.quiet) await context.stderr.write(text);
  };
  let isQuit = false;
  const quit = () => {
    isQuit = true;
    stop.abort();
  };
  const screen =
    !flags.isPlain && command === null ? await openScreen(app, { client, signal, onQuit: quit }) : null;
  const view = screen ?? plainView(app, { write, client, signal });
  for (const warning of warnings) view.onProblem(warning);
  let missing = goal?.count ?? 0;
  const isAwaited = awaitedResources(goal?.events ?? []);
  let isRunning = command !== null;
  const endIfDone = () => {
    if (missing <= 0 && !isRunning) stop.abort();
  };
  const cancel =
    flags.timeoutMs === null
      ? () => {}
      : clock.at(clock.now() + flags.timeoutMs, () => stop.abort(timedOut(flags, missing)));

  let running: Promise<void> = Promise.resolve();
  const runCommand = async (listening: Listening) => {
    const env = {
      CAT_WEBHOOK_SECRET: listening.secret,
      ...(listening.url !== null && { CAT_WEBHOOK_URL: listening.url }),
    };
    try {
      app.exit = await runAnother(context, command!, env, {
        stop: stop.signal,
        // Nothing that the command has started outlives the timeout.
        hasOwnGroup: flags.timeoutMs !== null,
      });
      isRunning = false;
      if (app.exit === 0 && missing > 0) return;
      stop.abort();
    } catch (error) {
      stop.abort(error);
    }
  };

  const onPoll: OnPoll = () => {
    // What the command has started is known to a poll that starts later.
    const isLast = command !== null && !isRunning;
    return ({ inProgress, ended }) => {
      if (!isLast || missing <= 0 || [...inProgress].some(isAwaited)) return;
      // Something came, but not what was awaited: a failure, or fewer than --count.
      if ([...ended].some(isAwaited)) return stop.abort(nothingLeft(flags, missing));
      onNote(`No ${spokenEvents(goal!.events)} came, because nothing was in progress.`);
      stop.abort();
    };
  };
  const onNote = (sentence: string) =>
    screen === null ? void io.note(io.visible(sentence)) : screen.note(sentence);

  let webhookId: string | null = null;
  const unregister = context.onStop(() => {
    if (webhookId === null) return;
    void context.stderr.write(
      io.asCalled(
        `Webhook ${webhookId} was not deleted. The next cat webhooks listen at its URL takes it over.\n`,
      ),
    );
  });
  try {
    await listen(
      {
        source,
        host: flags.host,
        port: flags.port,
        path: flags.path ?? pathOf(flags.publicUrl),
        logPath,
        handlers: flags.handlers,
        events: flags.events,
        headerName,
        toleranceSeconds: flags.toleranceSeconds,
      },
      {
        clock,
        pid: context.pid,
        runId: newRunId(clock.now(), randomUUID()),
        signal,
        send: await openPoster(app),
        view: {
          ...view,
          async onEvent(event, delivery, onShowing) {
            await view.onEvent(event, delivery, onShowing);
            if (goal === null || !matches(goal.events, event.type)) return;
            missing--;
            endIfDone();
          },
        },
        onNote,
        onPoll,
        onUnaccepted: (events) => view.onProblem(...unacceptedNote(app, events, { ...flags, logPath })),
        async onListening(listening) {
          webhookId = listening.webhookId;
          if (flags.printSecret) app.secrets.show(listening.secret);
          else app.secrets.add(listening.secret);
          const { url, secret } = listening;
          if (io.json) {
            await write(
              jsonLine({
                listening: url,
                webhook_id: webhookId,
                ...(flags.printSecret && { signing_secret: secret }),
              }),
            );
          } else
            await greeting(app, listening, {
              logPath,
              printSecret: flags.printSecret,
              hasCommand: isRunning,
            });
          if (command !== null) running = runCommand(listening);
          const title = url ?? `polling ${(await app.connection()).baseUrl}`;
          screen?.open({ title, target: targetOf(flags.handlers) }, listening.resend);
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
    unregister();
    await view.close();
  }
  if (stop.signal.reason instanceof Error && stop.signal.reason.name !== "AbortError")
    throw stop.signal.reason;
  const isWaiting = goal !== null && missing > 0;
  if (isQuit && isWaiting) app.exit = ExitCode.interrupted;
  if (interrupt.aborted && command === null) app.exit = exitAfter(interrupt.reason, isWaiting);
}

/** Where events go, for the screen. */
function targetOf(handlers: readonly Handler[]): string {
  const urls = [...new Set(handlers.map(({ url }) => url))];
  return urls.length === 0 ? "" : `to ${urls.length === 1 ? urls[0] : counted(urls.length, "handler")}`;
}

/** The interactive view; null where the terminal cannot show it. */
async function openScreen(app: App, options: ScreenOptions): Promise<ScreenView | null> {
  const { canDraw, screenView } = await import("./screen/screen-view.ts");
  return canDraw(app) ? screenView(app, options) : null;
}

/** Ctrl-C is the usual end of a listener, but not of one that waits for an event. */
function exitAfter(reason: unknown, isWaiting: boolean): number {
  const isUsual = reason instanceof InterruptError && reason.signal === "SIGINT" && !isWaiting;
  return isUsual ? 0 : exitCodeOf(reason);
}

function timedOut({ timeoutMs, goal }: ListenFlags, missing: number): TimeoutError {
  const seconds = (timeoutMs ?? 0) / 1000;
  const came = goal === null ? "" : `: ${counted(goal.count - missing, "event")} of ${goal.count} came`;
  return new TimeoutError(`listening timed out after ${seconds} s${came}`, {
    code: "listen_timeout",
    hint: "Use a longer --timeout, or check that the events are sent.",
  });
}

/** Whether the end of a task, import or export can be what the patterns wait for. */
function awaitedResources(patterns: EventPattern): (resource: string) => boolean {
  const resources = new Set(typesOf(patterns).map((type) => type.split(".")[0]!));
  return (resource) => resources.has(resource);
}

const spokenEvents = (patterns: EventPattern): string =>
  patterns.includes("*") ? "event" : patterns.join(" or ");

const nothingLeft = ({ goal }: ListenFlags, missing: number): TimeoutError =>
  new TimeoutError(
    `nothing is in progress: ${counted(goal!.count - missing, "event")} of ${goal!.count} came`,
    { code: "nothing_in_progress", hint: "Check the events that came instead, or use a smaller --count." },
  );

const pathOf = (publicUrl: string | undefined): string =>
  publicUrl === undefined ? "/" : new URL(publicUrl).pathname;
