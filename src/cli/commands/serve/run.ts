import { once } from "node:events";
import { isLoopbackHost } from "../../../contract/url-policy.ts";
import type { OutputFile } from "../../../flows/files/output-file.ts";
import { maskedPath } from "../../../http/mask.ts";
import type {
  Mock,
  MockOptions,
  MockState,
  readState,
  ServedRequest,
  startMock,
} from "../../../mock/index.ts";
import type { App } from "../../app/app.ts";
import { cannotListen } from "../../context/cannot-listen.ts";
import { childEnvironment } from "../../context/child-environment.ts";
import type { Context } from "../../context/context.ts";
import { InterruptError, toExitCode } from "../../context/errors.ts";
import { explain } from "../../output/explain.ts";
import { showRequest, warn } from "../../output/io.ts";
import { jsonLine } from "../../output/visible.ts";
import { lineWidth } from "../../output/wrapped.ts";
import { checkedBaseUrl } from "../../settings/settings.ts";
import { runAnother } from "./run-another.ts";
import type { SandboxFile } from "./sandbox-file.ts";
import { checkSavePath, loadState, openMockState, writeMockState } from "./state-file.ts";

export interface ServeFlags {
  readonly port?: number;
  readonly host: string;
  readonly allowHost?: readonly string[];
  readonly seed?: number;
  readonly demo?: number;
  readonly speed?: number;
  /** False with `--no-rate-limit`; true is commander's default of such a pair. */
  readonly rateLimit?: { reads: number; writes: number } | boolean;
  /** In milliseconds. */
  readonly latency?: number;
  /** The file with the initial state, and the file for the final state. */
  readonly load?: string;
  readonly save?: string;
  /** Starts with the catalogue of the profile, and with its photos. */
  readonly clone?: boolean;
  readonly photos?: boolean;
  readonly fetchImages: boolean;
  readonly bodies: boolean;
  /** Opens the page at /_mock. */
  readonly open: boolean;
  readonly strict: boolean;
  readonly strictSlugs: boolean;
  readonly tomorrow: boolean;
}

interface MockModule {
  readonly startMock: typeof startMock;
  readonly readState: typeof readState;
}

/** Serves until the interrupt, which is the normal end and not reported; with a program, until that ends. */
export async function serveMock(
  app: App,
  flags: ServeFlags & { readonly port: number },
  program: readonly [string, ...string[]] | null,
): Promise<void> {
  const mockModule = await import("../../../mock/index.ts");
  const baseUrl = linkBase(app);
  const sandbox = await openSandbox(app, flags);
  const state = await initialState(app, flags, mockModule);
  const options = mockOptions(app, flags, { state, baseUrl });
  const mock = await mockModule.startMock(options).catch((error) => {
    throw cannotListen(error, flags);
  });
  try {
    await warnOfAccess(app, flags);
    if (baseUrl !== undefined) await app.io.note(`Signed URLs and links start with ${baseUrl}.`);
    if (flags.open && !(await openPage(app.context, pageUrl(mock))))
      await warn(app, `cannot open a browser; open ${pageUrl(mock)}`);
    await sandbox?.announce(mock.baseUrl);
    const ownKeys = state?.real_data ? state.keys! : [];
    if (program === null) await serveUntilInterrupt(app, mock, ownKeys, sandbox);
    else await serveProgram(app, mock, program);
  } finally {
    await endMock(app, mock, sandbox === null ? null : { sandbox, typed: flags.save! });
  }
}

/** The file of `--save`; null without. Throws a CatError if another mock uses it, or that of `--load`. */
async function openSandbox(app: App, { load, save }: ServeFlags): Promise<SandboxFile | null> {
  if (save !== undefined) await checkSavePath(save, app.context.cwd);
  const { SandboxFile, rejectRunning } = await import("./sandbox-file.ts");
  const sandbox = save === undefined ? null : await SandboxFile.open(app, { load, save });
  if (load !== undefined && load !== save) await rejectRunning(app, load);
  return sandbox;
}

/** The state of `--load` or `--clone`; null for a new one. */
async function initialState(
  app: App,
  { load, save, clone = false, photos = false }: ServeFlags,
  { startMock, readState }: MockModule,
): Promise<MockState | null> {
  const loaded = load === undefined ? null : await loadState(load, { cwd: app.context.cwd, save }, readState);
  if (!clone) return loaded;
  const { cloneCatalogue } = await import("./clone.ts");
  return readState(await cloneCatalogue(app, await blankState(startMock), photos));
}

function mockOptions(
  app: App,
  flags: ServeFlags & { readonly port: number },
  { state, baseUrl }: { readonly state: MockState | null; readonly baseUrl: string | undefined },
): MockOptions {
  const { load, save, clone, photos, open, latency, rateLimit, allowHost: allowHosts, ...options } = flags;
  return {
    ...options,
    ...(allowHosts !== undefined && { allowHosts }),
    ...(baseUrl !== undefined && { baseUrl }),
    ...(latency !== undefined && { latencyMs: latency }),
    ...((rateLimit === false || typeof rateLimit === "object") && { rateLimit }),
    ...(state !== null && { state }),
    ...(app.globals.verbose && { onRequest: (request: ServedRequest) => printRequest(app, request) }),
  };
}

/** Warns of a host that other machines reach, because the API key is public. */
async function warnOfAccess(app: App, { host }: ServeFlags): Promise<void> {
  if (isLoopbackHost(host.includes(":") ? `[${host}]` : host)) return;
  const message = `the mock listens on ${host}: any machine that reaches this one can read and change its data, also with /_mock`;
  await warn(app, message);
}

/** Stops the mock and saves its state. A second interrupt leaves time for both. */
async function endMock(
  app: App,
  mock: Mock,
  save: { readonly sandbox: SandboxFile; readonly typed: string } | null,
): Promise<void> {
  const { context } = app;
  let file: OutputFile | null = null;
  const stopAndSave = async () => {
    // Stop first, so that the state does not change while it is written.
    await mock.stop();
    if (save === null) return;
    const { path, note } = await save.sandbox.target(app.globals.yes);
    file = await openMockState(path, context);
    const tooLarge = await writeMockState(file, mock.printedState());
    if (note !== null) await warn(app, ...note);
    if (tooLarge !== null) await warn(app, tooLarge);
  };
  const ending = stopAndSave();
  const unregister = context.onStop(
    (signal) => {
      if (save === null || file?.discardAtOnce() === false) return;
      const message = `interrupted before the state was saved to ${save.typed}`;
      void context.stderr.write(explained(app, new InterruptError(signal, { message })));
    },
    save === null ? undefined : ending,
  );
  try {
    await ending;
  } catch (error) {
    // A failure decides the exit status, however the mock ended.
    await context.stderr.write(explained(app, error));
    app.exit = toExitCode(error);
  }
  unregister();
}

/** The state of a mock before its first request. */
async function blankState(startMock: MockModule["startMock"]): Promise<MockState> {
  await using mock = await startMock();
  return mock.state();
}

/**
 * The `--base-url` of the mock, with any host, also without encryption: it sends nothing there. It is only a
 * flag, because CAT_BASE_URL is that of clients. Throws UsageError.
 */
function linkBase({ globals: { baseUrl: value } }: App): string | undefined {
  if (value === undefined) return undefined;
  return checkedBaseUrl({ value, source: "--base-url" }, { has: () => true });
}

async function serveUntilInterrupt(
  app: App,
  mock: Mock,
  keys: OwnKeys,
  sandbox: SandboxFile | null,
): Promise<void> {
  const { interrupt } = app.context;
  if (app.io.json) await app.io.jsonData(introduction(mock));
  else await greet(app, mock, keys, sandbox?.warning(app.globals.yes) ?? null);
  await new Promise<void>((resolve) => {
    if (interrupt.aborted) resolve();
    else interrupt.addEventListener("abort", () => resolve(), { once: true });
  });
  app.exit = toExitCode(interrupt.reason);
}

/** Stdout belongs to the program, so `--json` prints the address on stderr. People get no greeting. */
async function serveProgram(app: App, mock: Mock, program: readonly [string, ...string[]]): Promise<void> {
  if (app.context.interrupt.aborted) throw app.context.interrupt.reason;
  if (app.io.json) await app.io.line(jsonLine(introduction(mock)).trimEnd());
  // Runs against the mock must not look like those of the night, which the profile may report.
  const env = { CAT_BASE_URL: mock.baseUrl, CAT_API_KEY: mock.apiKey, CAT_NOTIFY: "none" };
  app.exit = await runAnother(app.context, program, env);
}

/** Prints a request to the mock on stderr, as `--verbose` prints those of other commands. */
function printRequest(app: App, { method, path, status, request_id, replayed, ms }: ServedRequest): void {
  void showRequest(app.io, {
    method,
    origin: "",
    path: maskedPath(path),
    status,
    error: "connection cut",
    ms,
    attempt: 1,
    requestId: request_id,
    idempotencyKey: null,
    apiKey: null,
    replayed,
  });
}

function explained({ globals, io, context, secrets }: App, error: unknown): string {
  const mask = (text: string) => secrets.mask(io.asCalled(text));
  const { json, verbose } = globals;
  return explain(error, { json, verbose, width: lineWidth(context.stderr), mask, paint: io.paintNote.red });
}

/** The URL of the page with the requests and data of a mock. */
const pageUrl = ({ baseUrl }: Mock): string => `${baseUrl}/_mock`;

/** The API keys in the state of a mock with real data; none for other mocks, whose keys are public. */
type OwnKeys = NonNullable<MockState["keys"]>;

/** The access of a key, in words. */
function describeKey({ organization, scopes }: OwnKeys[number]): string {
  if (organization === null) return "of a user";
  if (organization === "other") return "of another organization";
  if (scopes === null) return "every scope";
  return scopes.every((scope) => scope.endsWith(":read")) ? "reads only" : "some scopes";
}

async function greet(app: App, mock: Mock, keys: OwnKeys, warning: string | null): Promise<void> {
  const { baseUrl, apiKey } = mock;
  const { bold, dim } = app.io.paintNote;
  await app.io.note(
    [
      `Mock service running at ${bold(baseUrl)} with API key ${bold(apiKey)}. To stop it, press Ctrl-C.`,
      `Requests, data and faults in a browser: ${bold(pageUrl(mock))}`,
      "",
      ...settingLines(mock).map((line) => (line.startsWith("  #") ? dim(line) : line)),
      "  cat products list",
      `  ${process.platform === "win32" ? "curl.exe" : "curl"} -H "Authorization: Bearer ${apiKey}" ${baseUrl}/v1/products`,
      ...(keys.length === 0 ? [] : ["", dim("  # random keys, because the data is real")]),
      ...keys.map((key) => `  ${key.key} ${dim(describeKey(key))}`),
      ...(warning === null ? [] : ["", app.io.visible(warning)]),
    ].join("\n"),
  );
}

/** The lines that make a shell use the mock; Windows has two shells. */
const settingLines = ({ baseUrl, apiKey }: Mock) =>
  process.platform === "win32"
    ? [
        "  # in another window of PowerShell",
        `  $env:CAT_BASE_URL="${baseUrl}"; $env:CAT_API_KEY="${apiKey}"`,
        "  # or of cmd",
        `  set CAT_BASE_URL=${baseUrl}& set CAT_API_KEY=${apiKey}`,
      ]
    : ["  # in another terminal", `  export CAT_BASE_URL=${baseUrl} CAT_API_KEY=${apiKey}`];

const introduction = ({ baseUrl, apiKey }: Mock) => ({ base_url: baseUrl, api_key: apiKey });

/** The program of a platform that opens a URL in the user's browser; xdg-open on all others. */
const openers: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  // `start` takes its first argument in quotes for a title.
  win32: ["cmd", "/c", "start", '""'],
};

/** Opens a URL in the user's browser. False if this machine has no program for that. */
async function openPage({ cwd, env }: Context, url: string): Promise<boolean> {
  const { spawn } = await import("node:child_process");
  const [program, ...args] = openers[process.platform] ?? ["xdg-open"];
  const child = spawn(program, [...args, url], {
    cwd,
    env: childEnvironment(env, "session"),
    detached: true,
    stdio: "ignore",
  });
  // The browser stays open when the mock ends.
  child.unref();
  return once(child, "spawn").then(
    () => true,
    () => false,
  );
}
