import { isLoopbackHost } from "../../../contract/url-policy.ts";
import type { Mock, MockOptions } from "../../../mock/index.ts";
import type { App } from "../../app/app.ts";
import { UsageError } from "../../context/errors.ts";
import { exitCodeOf } from "../../context/exit.ts";
import { explain } from "../../output/explain.ts";
import { jsonLine } from "../../output/json.ts";
import { runAnother } from "./run-another.ts";
import { loadState, StateFile } from "./state-file.ts";

/** How the service is run. */
export interface ServeInput {
  readonly mock: MockOptions & { port: number; host: string };
  /** The file that holds the state to begin with, and the one that the last state goes to. */
  readonly load: string | undefined;
  readonly save: string | undefined;
  /** The program that is served, with its arguments; null to serve whoever comes, until the interrupt. */
  readonly command: readonly [string, ...string[]] | null;
}

/** Serves until the interrupt, which is how it is meant to end: nothing is told about it. With a command, until that ends. */
export async function serveMock(app: App, { mock: options, load, save, command }: ServeInput): Promise<void> {
  const { startMock, readState } = await import("../../../mock/index.ts");
  const { context } = app;
  const stateFile = save === undefined ? null : await StateFile.at(save, context);
  const state = load === undefined ? null : await loadState(load, { cwd: context.cwd, save }, readState);
  let mock: Mock;
  try {
    mock = await startMock({ ...options, ...(state !== null && { state }) });
  } catch (error) {
    throw cannotListen(error, options);
  }
  try {
    await warnOfStrangers(app, options.host);
    if (command === null) await serveUntilInterrupt(app, mock);
    else await serveCommand(app, mock, command);
  } finally {
    const untell = context.onStop((signal) => {
      const error = stateFile?.giveUp(signal) ?? null;
      if (error !== null) void context.stderr.write(explained(app, error));
    });
    // Nothing changes any more when the state is written.
    await mock.stop();
    if (stateFile !== null) await saveState(app, stateFile, mock);
    untell();
  }
}

async function serveUntilInterrupt(app: App, mock: Mock): Promise<void> {
  const { interrupt } = app.context;
  if (app.io.json) await app.io.jsonData(introduction(mock));
  else await greet(app, mock);
  await new Promise<void>((resolve) => {
    if (interrupt.aborted) resolve();
    else interrupt.addEventListener("abort", () => resolve(), { once: true });
  });
  app.exit = exitCodeOf(interrupt.reason);
}

/** Our stdout is the command's, so what programs are told goes to stderr, and people are told nothing. */
async function serveCommand(app: App, mock: Mock, command: readonly [string, ...string[]]): Promise<void> {
  if (app.context.interrupt.aborted) throw app.context.interrupt.reason;
  if (app.io.json) await app.io.line(jsonLine(introduction(mock)).trimEnd());
  const env = { CAT_BASE_URL: mock.baseUrl, CAT_API_KEY: mock.apiKey };
  app.exit = await runAnother(app.context, command, env);
}

/** A failure is told here and decides the exit status, whatever ended the service. */
async function saveState(app: App, file: StateFile, mock: Mock): Promise<void> {
  try {
    const warning = await file.save(mock.printedState());
    if (warning !== null) await warn(app, warning);
  } catch (error) {
    await app.context.stderr.write(explained(app, error));
    app.exit = exitCodeOf(error);
  }
}

function explained({ globals, io }: App, error: unknown): string {
  const { json, verbose } = globals;
  return explain(error, { json, verbose, paint: io.paintNote.red });
}

async function greet(app: App, { baseUrl, apiKey }: Mock): Promise<void> {
  const { bold, dim } = app.io.paintNote;
  await app.io.note(
    [
      `A made-up service runs at ${bold(baseUrl)} with the key ${bold(apiKey)}. Ctrl-C stops it.`,
      "",
      dim("  # in another terminal"),
      `  export CAT_BASE_URL=${baseUrl} CAT_API_KEY=${apiKey}`,
      "  cat products list",
      `  curl -H "Authorization: Bearer ${apiKey}" ${baseUrl}/v1/products`,
    ].join("\n"),
  );
}

/** Whoever reaches it may do with it what they like: it has the one key that stands in every manual. */
async function warnOfStrangers(app: App, host: string): Promise<void> {
  if (isLoopbackHost(host.includes(":") ? `[${host}]` : host)) return;
  await warn(app, `${host} is reached from other machines too; anybody there can use this service`);
}

async function warn(app: App, what: string): Promise<void> {
  if (!app.io.quiet) await app.io.line(`${app.io.paintNote.yellow("warning:")} ${app.io.visible(what)}`);
}

const introduction = ({ baseUrl, apiKey }: Mock) => ({ base_url: baseUrl, api_key: apiKey });

/** Why a port cannot be listened on, in a sentence. Anything else is passed on as it is. */
function cannotListen(error: unknown, { port, host }: { port: number; host: string }): unknown {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  const refuse = (what: string, hint: string, param: string) =>
    new UsageError(what, { code: "cannot_listen", hint, param, cause: error });
  switch (code) {
    case "EADDRINUSE":
      return refuse(
        `port ${port} on ${host} is in use`,
        "Choose another with --port, or --port 0 for a free one.",
        "port",
      );
    case "EACCES":
      return refuse(`port ${port} may not be used by you`, "Choose one above 1023 with --port.", "port");
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
    case "EINVAL":
      return refuse(`${JSON.stringify(host)} is not an address of this machine`, "Leave --host out.", "host");
    default:
      return error;
  }
}
