import type { Client } from "../../client/client.ts";
import type { OutputFile } from "../../flows/files/output-file.ts";
import type { State } from "../../state/state.ts";
import type { Context } from "../context/context.ts";
import { ExitCode, UsageError } from "../context/errors.ts";
import type { GlobalOptions } from "../context/globals.ts";
import { createIo, type Io } from "../output/io.ts";
import type { Paint } from "../output/paint.ts";
import type { Secrets } from "../output/secrets.ts";
import { findHomeFolder, newPlaceNote } from "../settings/home-folder.ts";
import type { Connection } from "../settings/settings.ts";
import type { LastFailure } from "./open-client.ts";
import { RecordedRuns } from "./recorded-runs.ts";

/** The services of a command, created on first use: a command that never uses the client needs no API key. */
export interface App {
  readonly context: Context;
  /** The global flags, which are set once the command line is parsed. */
  readonly globals: GlobalOptions;
  /** The command line as it was typed, without the program, and with the flags of answers that it lacks. */
  readonly typed: string[];
  /** The arguments after `--`, for a command that runs another program; null without `--`. */
  commandLine: readonly string[] | null;
  readonly io: Io;
  /** Texts that every output masks; a command that prints a secret on purpose calls `show` first. */
  readonly secrets: Secrets;
  /** The base URL and the API key; starts the in-process mock with `--mock`. */
  connection(): Promise<Connection>;
  client(): Promise<Client>;
  /** The failure of the latest request; null before the first client. */
  lastFailure: LastFailure | null;
  /** The stored state of the profile in use; temporary with `--mock`. */
  state(): Promise<State>;
  readonly runs: RecordedRuns;
  /** Runs another command line of this program, and returns its exit status. */
  runCommand(argv: readonly string[], context: Context): Promise<number>;
  /** Reports the end of the command elsewhere (`--notify`, `--metrics`), once its resources are closed. */
  afterRun: ((exit: number, error: unknown) => Promise<void>) | null;
  /** The exit status if nothing is thrown, e.g. that of a program which the command ran. */
  exit: number;
  /** Registers `release` to run when the command ends, however it ends; the last one runs first. */
  onClose(release: () => void | Promise<void>): void;
}

export function createApp(
  given: Context,
  globals: GlobalOptions,
  {
    secrets,
    typed = [],
    runCommand,
    ...ofIo
  }: {
    secrets: Secrets;
    typed?: readonly string[];
    runCommand: App["runCommand"];
    paint: Paint;
    paintNote: Paint;
    asCalled(text: string): string;
    openOut(app: App, name: string): Promise<OutputFile>;
  },
): { app: App; close: () => Promise<void> } {
  const releases: (() => void | Promise<void>)[] = [];
  const homeFolder = once(() => given.homeFolder?.() ?? openHome(app));
  const context: Context = Object.create(given, { homeFolder: { value: homeFolder } });
  let runs: RecordedRuns | undefined;
  const app: App = {
    context,
    globals,
    typed: [...typed],
    commandLine: null,
    io: createIo(context, globals, {
      ...ofIo,
      mask: secrets.mask,
      excelStyle: async (given) =>
        (await import("../settings/csv-style.ts")).excelStyle({ context, globals }, given),
      openOut: (name) => ofIo.openOut(app, name),
    }),
    secrets,
    connection: once(async () => {
      const connection = await connect(app);
      secrets.add(connection.apiKey);
      return connection;
    }),
    client: once(() => connectClient(app)),
    lastFailure: null,
    state: once(() => connectState(app)),
    get runs() {
      runs ??= new RecordedRuns(app);
      return runs;
    },
    runCommand,
    afterRun: null,
    exit: ExitCode.done,
    onClose: (release) => void releases.push(release),
  };
  const close = async () => {
    for (let release = releases.pop(); release !== undefined; release = releases.pop()) await release();
  };
  return { app, close };
}

/** Does the work at the first call, and returns its promise at each. */
function once<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let result: Promise<Result> | undefined;
  return () => (result ??= work());
}

/** The folder of settings and state. A note says once where a variable names a new one. */
async function openHome({ context: { env, host }, globals, io }: App): Promise<string> {
  const note = globals.mock ? null : newPlaceNote({ env, host });
  if (note !== null) await io.note(io.visible(note));
  return findHomeFolder(env, host);
}

async function connect(app: App): Promise<Connection> {
  const { globals, context } = app;
  if (!globals.mock) {
    const { resolveConnection } = await import("../settings/settings.ts");
    return resolveConnection(globals, context);
  }
  if (globals.baseUrl !== undefined) {
    throw new UsageError("--mock cannot be used with --base-url", {
      hint: "Remove one of them. With --mock the command uses a temporary mock service.",
    });
  }
  const { startPrivateMock } = await import("./open-client.ts");
  const mock = await startPrivateMock(context.clock);
  app.onClose(() => mock.stop());
  return { baseUrl: mock.baseUrl, apiKey: mock.apiKey };
}

async function connectClient(app: App): Promise<Client> {
  const connection = await app.connection();
  app.context.skipWasmOptimization?.();
  const { openClient, sharedCounts } = await import("./open-client.ts");
  const client = openClient(app, connection, sharedCounts(app, connection));
  app.onClose(() => client.close());
  return client;
}

async function connectState(app: App): Promise<State> {
  const { openProfileState } = await import("./profile-state.ts");
  const state = await openProfileState(app);
  app.onClose(() => state.close());
  return state;
}
