import { readFileSync } from "node:fs";
import { type Clock, MovableClock } from "../../clock.ts";
import { exitOnSignal, InterruptError, type InterruptSignal } from "./errors.ts";
import { LastActs } from "./last-acts.ts";
import type { Keychain } from "./os-keychain.ts";
import { type Output, standardInput, standardOutput } from "./standard-streams.ts";
import { inBackground, terminalStreams } from "./terminals.ts";

/** The names of the program; the package installs both. */
export type ProgramName = "cat" | "catalogue";

/** The computer, as far as it decides where settings and state are. */
export interface Host {
  readonly platform: string;
  /** The home folder of the user's entry, e.g. in /etc/passwd; null without an entry. */
  userHome(): string | null;
}

/** An action that a person must agree to. */
export interface Confirmation {
  readonly question: string;
  /** The objects of the action. */
  readonly about: string | undefined;
  /** The number of images that it generates; 0 for another action. */
  readonly images: number;
}

/** Everything outside the program that a command may use. Tests pass their own context. */
export interface Context {
  /** The name that the program was called by. */
  readonly program: ProgramName;
  readonly stdin: NodeJS.ReadableStream & { isTTY?: boolean };
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The computer (default: this one). */
  readonly host?: Host | undefined;
  /** The folder of settings and state; the app gives it, and says where it is new. */
  homeFolder?(): Promise<string>;
  readonly cwd: string;
  readonly clock: Clock;
  random(): number;
  readonly pid: number;
  /** The version of Node, e.g. `20.19.0`. */
  readonly nodeVersion: string;
  /** Whether a process with this ID runs, as far as this process can see (it may be in a container). */
  isRunning(pid: number): boolean;
  /** Aborted with an InterruptError by the first SIGINT, SIGTERM or, on a terminal, SIGHUP. */
  readonly interrupt: AbortSignal;
  /**
   * Registers `run`, which reports what a second interrupt leaves undone; `finishing`, which must be done in
   * any case, gets 5 s before. Returns a function that unregisters both.
   */
  onStop(run: (signal: InterruptSignal) => void, finishing?: Promise<unknown>): () => void;
  /**
   * Sends signals to `receive` instead of `interrupt` while a child program runs; resolves to a function that
   * ends this. Signals that a terminal sends to all its programs are skipped, because the child gets them
   * too; not for a child of its own group (`hasOwnGroup`).
   */
  passSignals(receive: (signal: NodeJS.Signals) => void, hasOwnGroup: boolean): Promise<() => void>;
  /** Asks a person who has no terminal here, e.g. the one behind an agent. */
  confirm?(asked: Confirmation): Promise<boolean>;
  /** Called when a run begins or is resumed, before it changes anything. What it throws ends the run. */
  onRun?(runId: string): void;
  /** Whether it runs in the background (`COMMAND &`), where reading keys stops it. */
  inBackground?(): Promise<boolean>;
  /** The keychain of the system; its code is loaded only for a stored key. */
  keychain(): Promise<Keychain>;
  /** The locale of the system, for where no variable has one (Windows). */
  systemLocale?(): string;
  /** How many files this process may open; null where the system does not tell. */
  openFileLimit?(): number | null;
  /** The user of the system and the host, as `USER@HOST`. */
  who?(): string;
  /** Makes V8 collect garbage early, which costs some time: for work that allocates much for a short time. */
  keepHeapSmall?(): void;
  /** Keeps V8 from optimizing WebAssembly: no command gains back the time and the memory that it takes. */
  skipWasmOptimization?(): void;
  /** Releases handles that would keep the process alive; called once, at the end. */
  release?(): void;
}

const passed = ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2"] as const;
/** Signals that a terminal sends on a key press to all programs in the foreground. */
const sentByTerminals: ReadonlySet<NodeJS.Signals> = new Set(["SIGINT", "SIGQUIT"]);

/** The context of the installed program: the only place that reads `process`. */
export function nodeContext(program: ProgramName): Context {
  const clock = new MovableClock();
  const lastActs = new LastActs();
  const { interrupt, passSignals } = receiveSignals(clock, lastActs, () => stderr);
  let fileLimit: number | null = null;
  // Streams are created on first use: each costs time at startup.
  let stdin: NodeJS.ReadStream | undefined;
  let stdout: Output | undefined;
  let stderr: Output | undefined;
  return {
    program,
    get stdin() {
      stdin ??= standardInput(process);
      return stdin;
    },
    get stdout() {
      stdout ??= standardOutput(process, "stdout");
      return stdout;
    },
    get stderr() {
      stderr ??= standardOutput(process, "stderr");
      return stderr;
    },
    env: process.env,
    get cwd() {
      return process.cwd();
    },
    clock,
    systemLocale: () => new Intl.NumberFormat().resolvedOptions().locale,
    who: userAtHost,
    random: Math.random,
    pid: process.pid,
    nodeVersion: process.versions.node,
    isRunning,
    interrupt,
    onStop: (run, finishing) => lastActs.add(run, finishing),
    passSignals,
    inBackground: () => inBackground(process),
    async keychain() {
      const { osKeychain } = await import("./os-keychain.ts");
      return osKeychain({ clock, env: process.env, node: process.execPath });
    },
    // Kept, because it cannot be read while no file can be opened.
    openFileLimit: () => (fileLimit ??= readOpenFileLimit()),
    // By default V8 lets the heap grow to four times the memory in use before it collects.
    keepHeapSmall: () => process.getBuiltinModule("node:v8").setFlagsFromString("--heap-growing-percent=40"),
    skipWasmOptimization,
    release() {
      // A half-read stdin would keep the process alive until its writer closes it.
      stdin?.destroy();
      // So would the waits of requests that no command needs any more, for a minute and longer.
      clock.clear();
    },
  };
}

/** Turns signals of the system into an interrupt, or passes them on to a child program. */
function receiveSignals(clock: MovableClock, lastActs: LastActs, stderr: () => Output | undefined) {
  const interrupt = new AbortController();
  let passing = false;
  let isStopping = false;
  // A second interrupt stops soon, because the work that the first one waits for may hang; a third at once.
  const stop = () => {
    const { signal } = interrupt.signal.reason as InterruptError;
    const exit = () => {
      const screen = stderr();
      // Shows the cursor and turns line wrapping on again.
      if (screen?.isTTY) screen.raw.write("\x1b[?25h\x1b[?7h");
      lastActs.run(signal);
      process.exit(exitOnSignal[signal]);
    };
    const finished = isStopping ? null : lastActs.finished(clock);
    isStopping = true;
    if (finished === null) exit();
    else void finished.then(exit);
  };
  const receive = interruptReceiver(clock, (signal) => interrupt.abort(new InterruptError(signal)), stop);
  const interrupted = (signal: InterruptSignal) => {
    // Node has forgotten that `nohup` asked to ignore it.
    if (passing || (signal === "SIGHUP" && terminalStreams(process).length === 0)) return;
    // Of a Ctrl-C that arrives as both, SIGTERM may come before SIGINT, which names the request.
    if (signal === "SIGTERM") setImmediate(receive, signal);
    else receive(signal);
  };
  for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"] as const) process.on(signal, interrupted);
  const passSignals: Context["passSignals"] = async (receive, hasOwnGroup) => {
    passing = true;
    const getsThemItself =
      !hasOwnGroup && [0, 1, 2].some((descriptor) => process.getBuiltinModule("node:tty").isatty(descriptor));
    const passOn = (signal: NodeJS.Signals) => {
      if (!getsThemItself || !sentByTerminals.has(signal)) receive(signal);
    };
    const passRequest = interruptReceiver(clock, passOn, passOn);
    // A Ctrl-C that `pnpm` passes on as SIGTERM as well is one request for the child, too.
    const pass = (signal: NodeJS.Signals) =>
      signal === "SIGINT" || signal === "SIGTERM" ? passRequest(signal) : passOn(signal);
    for (const signal of passed) process.on(signal, pass);
    return () => {
      passing = false;
      for (const signal of passed) process.removeListener(signal, pass);
    };
  };
  return { interrupt: interrupt.signal, passSignals };
}

function userAtHost(): string {
  const { hostname, userInfo } = process.getBuiltinModule("node:os");
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    // A container may run as a user without an entry.
    return `${process.getuid?.() ?? "unknown"}@${hostname()}`;
  }
}

// Node 20 optimizes undici's HTTP parser at the first response: 80 ms. Less than this maximum only delays it.
function skipWasmOptimization(): void {
  if (Number.parseInt(process.versions.node, 10) >= 22) return;
  process.getBuiltinModule("node:v8").setFlagsFromString("--wasm-tiering-budget=2147483647");
}

function readOpenFileLimit(): number | null {
  try {
    // Takes a tenth of the time of a report, which is for systems without /proc.
    const [, limit] = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "latin1")) ?? [];
    if (limit !== undefined) return Number(limit);
  } catch {}
  if (process.platform === "linux" || process.platform === "win32") return null;
  const report = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } };
  const limit = report.userLimits?.open_files?.soft;
  return typeof limit === "number" ? limit : null;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // The process exists, but belongs to another user.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Signals within this time are one request, whatever their names: `pnpm` passes on a Ctrl-C as SIGTERM. */
const sameMs = 1_000;

/** Calls `first` for the first request to stop, and `second`, which does not wait, for each later one. */
export function interruptReceiver(
  clock: Clock,
  first: (signal: InterruptSignal) => void,
  second: (signal: InterruptSignal) => void,
): (signal: InterruptSignal) => void {
  let requestedAt: number | null = null;
  return (signal) => {
    const now = clock.now();
    if (requestedAt !== null) {
      // A closing terminal sends several SIGHUPs, and no user is waiting.
      if (signal === "SIGHUP" || Math.abs(now - requestedAt) <= sameMs) return;
    }
    const request = requestedAt === null ? first : second;
    requestedAt = now;
    request(signal);
  };
}
