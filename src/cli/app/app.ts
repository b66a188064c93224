import type { Client } from "../../client/client.ts";
import type { State } from "../../state/state.ts";
import type { Context } from "../context/context.ts";
import { UsageError } from "../context/errors.ts";
import { ExitCode } from "../context/exit.ts";
import type { GlobalOptions } from "../context/global-options.ts";
import { createIo, type Io } from "../output/io.ts";
import type { Paint } from "../output/paint.ts";
import type { Secrets } from "../output/secrets.ts";
import type { Connection } from "../settings/settings.ts";
import { LastFailure } from "./last-failure.ts";

/** What a command gets. Suppliers are lazy: a command that never asks for the client needs no key. */
export interface App {
  readonly context: Context;
  /** The global flags; filled in once the command line is parsed, so read them in the run, not before. */
  readonly globals: GlobalOptions;
  /** What stands after `--`, for a command that runs another one; null without `--`. */
  commandLine: readonly string[] | null;
  readonly io: Io;
  /** What no output shows; a command that prints a secret on purpose names it here first (`show`). */
  readonly secrets: Secrets;
  /** Where the service is and who asks; starts the in-process mock with `--mock`. */
  connection(): Promise<Connection>;
  client(): Promise<Client>;
  /** What was wrong with the service when it was last asked. */
  readonly lastFailure: LastFailure;
  /** What this machine remembers for the profile in use; in memory with `--mock`. */
  state(): Promise<State>;
  /** What the program ends with when nothing is thrown; a command sets it, e.g. to `ExitCode.partial`, or as one that it ran. */
  exit: number;
  /** Has `release` called at the end, the last one first, however the command ends. */
  onClose(release: () => void | Promise<void>): void;
}

/** The app and how to close it. */
export function createApp(
  context: Context,
  globals: GlobalOptions,
  { secrets, ...paints }: { secrets: Secrets; paint: Paint; paintNote: Paint },
): { app: App; close: () => Promise<void> } {
  const releases: (() => void | Promise<void>)[] = [];
  let connection: Promise<Connection> | undefined;
  let client: Promise<Client> | undefined;
  let state: Promise<State> | undefined;
  const app: App = {
    context,
    globals,
    commandLine: null,
    io: createIo(context, globals, { ...paints, mask: secrets.mask }),
    secrets,
    connection() {
      connection ??= connect(app).then((made) => {
        secrets.add(made.apiKey);
        return made;
      });
      return connection;
    },
    client() {
      client ??= connectClient(app);
      return client;
    },
    lastFailure: new LastFailure(),
    state() {
      state ??= connectState(app);
      return state;
    },
    exit: ExitCode.done,
    onClose: (release) => void releases.push(release),
  };
  const close = async () => {
    for (let release = releases.pop(); release !== undefined; release = releases.pop()) await release();
  };
  return { app, close };
}

async function connect(app: App): Promise<Connection> {
  const { globals, context } = app;
  if (!globals.mock) {
    const { resolveConnection } = await import("../settings/settings.ts");
    return resolveConnection(globals, context.env);
  }
  if (globals.baseUrl !== undefined) {
    throw new UsageError("--mock and --base-url exclude each other", {
      hint: "--mock runs against a private made-up service; leave one of the two out.",
    });
  }
  const { startPrivateMock } = await import("./mock-switch.ts");
  const mock = await startPrivateMock(context.clock);
  app.onClose(() => mock.stop());
  return { baseUrl: mock.baseUrl, apiKey: mock.apiKey };
}

async function connectClient(app: App): Promise<Client> {
  const connection = await app.connection();
  const { openClient } = await import("./open-client.ts");
  const { io, globals, lastFailure } = app;
  const trace = globals.verbose ? (line: string) => void io.line(io.visible(line)) : undefined;
  const client = openClient(app.context, connection, {
    ...{ trace, note: (text) => io.note(text) },
    onExchange: (line) => lastFailure.saw(line),
  });
  app.onClose(() => client.close());
  return client;
}

async function connectState(app: App): Promise<State> {
  const { openProfileState } = await import("./open-profile-state.ts");
  const state = await openProfileState(app);
  app.onClose(() => state.close());
  return state;
}
