import type { EventPattern, Handler } from "../../../flows/listen/forward.ts";
import { listen } from "../../../flows/listen/listen.ts";
import type { EventSource, ListenHost, ListenInput, OpenListener } from "../../../flows/listen/listener.ts";
import type { UnacceptedEvents } from "../../../flows/listen/log-lines.ts";
import { counted } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { newRunId } from "../../app/recorded-runs.ts";
import { cannotListen } from "../../context/cannot-listen.ts";
import { ExitCode, InterruptError, toExitCode } from "../../context/errors.ts";
import { commandLine } from "../../output/command-words.ts";
import { jsonLine } from "../../output/visible.ts";
import { signatureHeaderInUse } from "../../settings/settings.ts";
import { runAnother } from "../serve/run-another.ts";
import { openPoster } from "./handlers.ts";
import { ListenerEnd } from "./listener-end.ts";
import { plainView } from "./plain-view.ts";
import { eventLogPath, eventSource } from "./source.ts";

export interface ListenFlags {
  readonly port: number;
  readonly host: string;
  readonly path?: string;
  readonly publicUrl?: string;
  readonly poll: boolean;
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

type Command = readonly [string, ...string[]];

/**
 * Listens until the interrupt, which is the usual end and exits with 0; until the goal; or until the command
 * has ended, whose exit status is used. With a goal and a command: until both.
 */
export async function listenForEvents(app: App, flags: ListenFlags, command: Command | null): Promise<void> {
  const { context } = app;
  const { wait, count = 1, timeout } = flags;
  const goal = wait === undefined && flags.count === undefined ? null : { events: wait ?? ["*"], count };
  const { clock, interrupt } = context;
  const { source, warnings } = await eventSource(app, flags);
  const isPolling = source.kind === "poll";
  const end = new ListenerEnd({ goal, hasCommand: command !== null, timeout, isPolling, clock });
  const signal = AbortSignal.any([interrupt, end.signal]);
  const input = await toInput(app, flags, source, goal?.events ?? null);
  // Long bodies and many slow senders must not fill the memory.
  context.keepHeapSmall?.();
  const output = await openView(app, flags, { end, signal, command });
  for (const warning of warnings) output.view.onProblem(warning);
  end.start();
  const webhook = reportLeftWebhook(app, source.kind === "webhook");
  let running: Promise<void> = Promise.resolve();
  const onListening = async (listening: OpenListener) => {
    await announce(app, flags, listening, { input, output, isEndless: !end.isRunning });
    if (command !== null)
      running = runCommand(app, listening, { command, end, hasTimeout: timeout !== undefined });
  };
  try {
    await listen(input, {
      ...(await toHost(app, flags, { input, output, end, webhook })),
      signal,
      onListening,
    });
    await running;
  } catch (error) {
    end.stop(error);
    await running;
    throw cannotListen(error, flags);
  } finally {
    end.release();
    webhook.release();
    await output.view.close();
  }
  const { reason } = end.signal;
  if (reason instanceof Error && reason.name !== "AbortError") throw reason;
  setExit(app, { isWaiting: end.isWaiting, hasQuit: output.hasQuit(), hasCommand: command !== null });
}

async function toInput(
  app: App,
  flags: ListenFlags,
  source: EventSource,
  awaited: EventPattern | null,
): Promise<ListenInput> {
  const { publicUrl } = flags;
  return {
    source,
    host: flags.host,
    port: flags.port,
    path: flags.path ?? (publicUrl === undefined ? "/" : new URL(publicUrl).pathname),
    logPath: await eventLogPath(app, flags.log),
    handlers: [...(flags.forwardTo ?? []), ...(flags.route ?? [])],
    events: flags.events ?? null,
    awaited,
    headerName: await signatureHeaderInUse(app.globals, app.context),
    toleranceSeconds: flags.tolerance,
  };
}

/** The parts of a running listener that its events reach. */
interface Reporting {
  readonly input: ListenInput;
  readonly output: Output;
  readonly end: ListenerEnd;
  readonly webhook: ReturnType<typeof reportLeftWebhook>;
}

async function toHost(
  app: App,
  { printSecret, log }: ListenFlags,
  { input, output: { view, onNote }, end, webhook }: Reporting,
): Promise<Omit<ListenHost, "signal" | "onListening">> {
  const { clock, pid } = app.context;
  return {
    clock,
    pid,
    runId: newRunId(clock.now()),
    send: await openPoster(app),
    view: {
      ...view,
      async onEvent(event, delivery, onShowing) {
        await view.onEvent(event, delivery, onShowing);
        end.received(event.type);
      },
    },
    onNote,
    onPoll: () => end.onPoll(onNote),
    onWebhook(registered) {
      webhook.became(registered?.id ?? null);
      if (registered !== null && !printSecret) app.secrets.add(registered.secret);
    },
    endsBy: (fault, id) => end.endsBy(fault, id),
    onUnaccepted: (events) => view.onProblem(...unacceptedNote(app, events, log, input.logPath)),
  };
}

/** Says that events can come, and opens the screen. */
async function announce(
  app: App,
  { printSecret }: ListenFlags,
  listening: OpenListener,
  { input, output, isEndless }: Pick<Reporting, "input" | "output"> & { readonly isEndless: boolean },
): Promise<void> {
  const polled = listening.url === null ? (await app.connection()).baseUrl : null;
  if (printSecret) app.secrets.show(listening.secret);
  else app.secrets.add(listening.secret);
  if (app.io.json) await output.write(listeningJson(listening, printSecret));
  else await noteListening(app, listening, input, { printSecret, polled, isEndless });
  const title = listening.url ?? `polling ${polled}`;
  const secret = printSecret ? listening.secret : undefined;
  output.screen?.open({ title, target: shownTarget(input.handlers), secret }, listening.resend);
}

type Output = Awaited<ReturnType<typeof openView>>;

/** The screen, or the lines of a terminal in the background, a pipe, or `--plain`. */
async function openView(
  app: App,
  { plain, details }: ListenFlags,
  { end, signal, command }: { end: ListenerEnd; signal: AbortSignal; command: Command | null },
) {
  const { context, io } = app;
  const client = details ? await app.client() : null;
  // Stdout belongs to the command.
  const write = async (text: string) => {
    if (command === null) await (io.json ? io.data(text) : io.text(text));
    else if (!io.quiet) await context.stderr.write(text);
  };
  let isQuit = false;
  const onQuit = () => {
    isQuit = true;
    end.stop();
  };
  const onHangUp = () => end.stop(new InterruptError("SIGHUP"));
  const screen =
    plain || command !== null || (await context.inBackground?.()) === true
      ? null
      : (await import("./screen-view.ts")).openScreen(app, { client, signal, onQuit, onHangUp });
  const view = screen ?? plainView(app, { write, client, signal });
  const onNote = (sentence: string) =>
    screen === null ? void io.note(io.visible(sentence)) : screen.note(sentence);
  return { screen, view, write, onNote, hasQuit: () => isQuit };
}

/** Has a second interrupt report the webhook that is left, and waits for its deletion at the first one. */
function reportLeftWebhook({ context, io }: App, isRegistered: boolean) {
  let webhookId: string | null = null;
  let onLeft!: () => void;
  const left = new Promise<void>((resolve) => {
    onLeft = resolve;
  });
  const unregister = context.onStop(
    () => {
      if (webhookId === null) return;
      const text = `Webhook ${webhookId} was not deleted. The next cat webhooks listen at its URL takes it over.\n`;
      void context.stderr.write(io.asCalled(text));
    },
    isRegistered ? left : undefined,
  );
  return {
    became(id: string | null) {
      webhookId = id;
      if (id === null) onLeft();
    },
    release() {
      onLeft();
      unregister();
    },
  };
}

/** Runs COMMAND with the secret and address of the listener. Its exit status is that of the program. */
async function runCommand(
  app: App,
  listening: OpenListener,
  { command, end, hasTimeout }: { command: Command; end: ListenerEnd; hasTimeout: boolean },
): Promise<void> {
  const { context, globals } = app;
  // The command works at the service that is listened to: a private mock only with its own key.
  const mock = globals.mock ? await app.connection() : null;
  const env = {
    CAT_API_KEY: mock?.apiKey ?? context.env.CAT_API_KEY,
    ...(mock !== null && { CAT_BASE_URL: mock.baseUrl }),
    CAT_WEBHOOK_SECRET: listening.secret,
    ...(listening.url !== null && { CAT_WEBHOOK_URL: listening.url }),
  };
  try {
    // Nothing that the command has started outlives the timeout.
    app.exit = await runAnother(context, command, env, { stop: end.signal, hasOwnGroup: hasTimeout });
    // Its changes to the webhook are known now, not in a minute.
    if (end.commandEnded(app.exit)) await listening.checkWebhook?.();
  } catch (error) {
    end.stop(error);
  }
}

const listeningJson = ({ url, secret, webhookId }: OpenListener, printSecret: boolean): string =>
  jsonLine({ listening: url, webhook_id: webhookId, ...(printSecret && { signing_secret: secret }) });

/** Says where events can come from, and where they are stored. */
async function noteListening(
  { io }: App,
  { url, secret, webhookId }: OpenListener,
  { source, handlers, logPath }: ListenInput,
  shown: { readonly printSecret: boolean; readonly polled: string | null; readonly isEndless: boolean },
): Promise<void> {
  const place = io.paintNote.bold(io.visible(url ?? shown.polled!));
  const webhook = webhookId === null ? "" : ` with webhook ${webhookId}`;
  const where = url === null ? `Polling ${place}.` : `Listening on ${place}${webhook}.`;
  const end = shown.isEndless ? " To stop, press Ctrl-C." : "";
  await io.note(`${where}${end}\nEvents are stored in ${io.visible(logPath)}.`);
  if (source.kind === "webhook" && source.secret !== null && handlers.length > 0)
    await io.note("Handlers get deliveries that are signed with CAT_WEBHOOK_SECRET.");
  if (shown.printSecret) await io.note(`Signing secret: ${secret}`);
}

function shownTarget(handlers: readonly Handler[]): string {
  const urls = [...new Set(handlers.map((handler) => handler.url))];
  return urls.length === 0 ? "" : `to ${urls.length === 1 ? urls[0] : counted(urls.length, "handler")}`;
}

/** Sets the exit status of a listener that no error has ended. */
function setExit(
  app: App,
  { isWaiting, hasQuit, hasCommand }: Readonly<Record<"isWaiting" | "hasQuit" | "hasCommand", boolean>>,
): void {
  const { interrupt } = app.context;
  if (hasQuit && isWaiting) app.exit = ExitCode.interrupted;
  if (!interrupt.aborted || hasCommand) return;
  // Ctrl-C is the usual end of a listener, but not of one that waits for an event.
  const { reason } = interrupt;
  const isUsual = reason instanceof InterruptError && reason.signal === "SIGINT" && !isWaiting;
  app.exit = isUsual ? 0 : toExitCode(reason);
}

/** A warning of the last day's unaccepted events, with the command to send them again. `log`: as typed. */
function unacceptedNote(
  { globals, io }: App,
  { count, urls }: UnacceptedEvents,
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
