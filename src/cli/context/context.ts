import { fstatSync, writeSync } from "node:fs";
import { type Clock, MovableClock } from "../../clock.ts";
import {
  exitOnSignal,
  InterruptError,
  type InterruptSignal,
  OutputError,
  ReaderGoneError,
} from "./errors.ts";
import type { Keychain } from "./os-keychain.ts";

/** The names of the program; the package installs both. */
export type ProgramName = "cat" | "catalogue";

/** Everything outside the program that a command may use. Tests pass their own context. */
export interface Context {
  /** The name that the program was called by. */
  readonly program: ProgramName;
  readonly stdin: NodeJS.ReadableStream & { isTTY?: boolean };
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly clock: Clock;
  random(): number;
  readonly pid: number;
  /** The version of Node, e.g. `20.19.0`. */
  readonly nodeVersion: string;
  /** Whether a process with this ID runs, as far as this process can see (it may be in a container). */
  isRunning(pid: number): boolean;
  /** Aborted by the first SIGINT, SIGTERM or SIGHUP; its reason is an InterruptError. */
  readonly interrupt: AbortSignal;
  /**
   * Registers `run` for a second interrupt, which stops the program without waiting. Returns a function that
   * unregisters it.
   */
  onStop(run: (signal: InterruptSignal) => void): () => void;
  /**
   * Sends signals to `receive` instead of `interrupt` while a child program runs; resolves to a function that
   * ends this. Signals that a terminal sends to all its programs are skipped, because the child gets them
   * too; not for a child of its own group (`hasOwnGroup`).
   */
  passSignals(receive: (signal: NodeJS.Signals) => void, hasOwnGroup: boolean): Promise<() => void>;
  /** The keychain of the system; its code is loaded only for a stored key. */
  keychain(): Promise<Keychain>;
  /** The locale of the system, for where no variable has one (Windows). */
  systemLocale?(): string;
  /** The user of the system and the host, as `USER@HOST`. */
  who?(): string;
  /** Makes V8 collect garbage early, which costs some time: for work that allocates much for a short time. */
  keepHeapSmall?(): void;
  /** Keeps V8 from optimizing WebAssembly: no command gains back the time and the memory that it takes. */
  skipWasmOptimization?(): void;
  /** Releases handles that would keep the process alive; called once, at the end. */
  release?(): void;
}

/** An output stream. */
export interface Output {
  readonly isTTY: boolean;
  /** The width of the terminal; 80 without a terminal. */
  readonly columns: number;
  /** The height of the terminal; 24 without a terminal. */
  readonly rows: number;
  /** Resolves when more can be written. Rejects with a ReaderGoneError when the reader closed the pipe. */
  write(text: string | Uint8Array): Promise<void> | void;
  /** The underlying stream, for code that draws on a terminal. */
  readonly raw: NodeJS.WritableStream;
}

/** Signals that are passed on to a child program. */
const passed = ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2"] as const;
/** Signals that a terminal sends on a key press to all programs in the foreground. */
const sentByTerminals: ReadonlySet<NodeJS.Signals> = new Set(["SIGINT", "SIGQUIT"]);

/** The context of the installed program: the only place that reads `process`. */
export function nodeContext(program: ProgramName): Context {
  const interrupt = new AbortController();
  const clock = new MovableClock();
  let passing = false;
  const lastActs = new Set<(signal: InterruptSignal) => void>();
  const receive = interruptReceiver(
    clock,
    (signal) => interrupt.abort(new InterruptError(signal)),
    // A second interrupt stops at once, because the work that the first one waits for may hang. The escape
    // sequences show the cursor and turn line wrapping on again.
    (signal) => {
      if (process.stderr.isTTY) process.stderr.write("\x1b[?25h\x1b[?7h");
      for (const run of lastActs) run(signal);
      process.exit(exitOnSignal[signal]);
    },
  );
  const interrupted = (signal: InterruptSignal) => {
    if (!passing) receive(signal);
  };
  for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"] as const) process.on(signal, interrupted);
  let touchedStdin = false;
  // Streams are created on first use: each costs time at startup.
  let stdout: Output | undefined;
  let stderr: Output | undefined;
  return {
    program,
    get stdin() {
      touchedStdin = true;
      return process.stdin;
    },
    get stdout() {
      stdout ??= streamOutput(process.stdout, 1, true);
      return stdout;
    },
    get stderr() {
      // A failure to write to stderr cannot be reported anywhere.
      stderr ??= streamOutput(process.stderr, 2, false);
      return stderr;
    },
    env: process.env,
    get cwd() {
      return process.cwd();
    },
    clock,
    systemLocale: () => new Intl.NumberFormat().resolvedOptions().locale,
    who() {
      const { hostname, userInfo } = process.getBuiltinModule("node:os");
      try {
        return `${userInfo().username}@${hostname()}`;
      } catch {
        // A container may run as a user without an entry.
        return `${process.getuid?.() ?? "unknown"}@${hostname()}`;
      }
    },
    random: Math.random,
    pid: process.pid,
    nodeVersion: process.versions.node,
    isRunning,
    interrupt: interrupt.signal,
    onStop(run) {
      lastActs.add(run);
      return () => lastActs.delete(run);
    },
    async passSignals(receive, hasOwnGroup) {
      // Imported here, because only commands that run another program need it.
      const { isatty } = await import("node:tty");
      passing = true;
      const getsThemItself = !hasOwnGroup && [0, 1, 2].some((descriptor) => isatty(descriptor));
      const pass = (signal: NodeJS.Signals) => {
        if (!getsThemItself || !sentByTerminals.has(signal)) receive(signal);
      };
      for (const signal of passed) process.on(signal, pass);
      return () => {
        passing = false;
        for (const signal of passed) process.removeListener(signal, pass);
      };
    },
    async keychain() {
      const { osKeychain } = await import("./os-keychain.ts");
      return osKeychain({ clock, env: process.env, node: process.execPath });
    },
    keepHeapSmall() {
      // By default V8 lets the heap grow to four times the memory in use before it collects; this sets 1.4
      // times.
      process.getBuiltinModule("node:v8").setFlagsFromString("--heap-growing-percent=40");
    },
    skipWasmOptimization() {
      // The V8 of Node 20 optimizes undici's HTTP parser at the first response, which takes 80 ms of processor time;
      // later versions wait. A smaller budget than this maximum would only move that, and 25 MB, into the middle of long runs.
      if (Number.parseInt(process.versions.node, 10) >= 22) return;
      process.getBuiltinModule("node:v8").setFlagsFromString("--wasm-tiering-budget=2147483647");
    },
    release() {
      // A half-read stdin would keep the process alive until its writer closes it.
      if (touchedStdin) process.stdin.destroy();
      // So would the waits of requests that no command needs any more, for a minute and longer.
      clock.clear();
    },
  };
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // The process exists, but belongs to another user.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function streamOutput(stream: NodeJS.WriteStream, descriptor: number, reportsErrors: boolean): Output {
  let broken: Error | null = null;
  let isFileKnown: boolean | undefined;
  const isFile = () => {
    try {
      isFileKnown ??= fstatSync(descriptor).isFile();
    } catch {
      isFileKnown = false;
    }
    return isFileKnown;
  };
  stream.on("error", (error: NodeJS.ErrnoException) => {
    broken ??= asOutputError(error);
  });
  return {
    isTTY: stream.isTTY === true,
    get columns() {
      // A terminal without a size, as some CI jobs have, reports 0 columns.
      return stream.columns || 80;
    },
    get rows() {
      return stream.rows || 24;
    },
    write: (text) =>
      new Promise((resolve, reject) => {
        const settle = (error: Error | null) =>
          error === null || !reportsErrors ? resolve() : reject(error);
        if (broken !== null) return settle(broken);
        // A device such as /dev/full fails even a write of nothing.
        if (text.length === 0) return settle(null);
        if (isFile()) return settle(writeToFile(descriptor, text));
        stream.write(text, (error) => settle(error ? asOutputError(error) : null));
      }),
    raw: stream,
  };
}

/**
 * Writes all bytes, or returns the error. Node's stream takes a write that a full disk cut short as complete.
 */
function writeToFile(descriptor: number, text: string | Uint8Array): Error | null {
  const bytes = typeof text === "string" ? Buffer.from(text) : text;
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
    return null;
  } catch (error) {
    return asOutputError(error as NodeJS.ErrnoException);
  }
}

/**
 * EPIPE (POSIX) and EOF (Windows) mean that the reader closed the pipe; any other error is, for example, a
 * full disk.
 */
const asOutputError = (error: NodeJS.ErrnoException): Error =>
  error.code === "EPIPE" || error.code === "EOF" ? new ReaderGoneError() : new OutputError(error);

/**
 * A repeated signal within this time counts as one: `timeout` signals the program and then its process group.
 */
const sameMs = 50;

/**
 * Calls `first` for the first signal, which ends work in progress, and `second` for a later one, which stops
 * at once.
 */
export function interruptReceiver(
  clock: Pick<Clock, "now">,
  first: (signal: InterruptSignal) => void,
  second: (signal: InterruptSignal) => void,
): (signal: InterruptSignal) => void {
  let received: { signal: InterruptSignal; at: number } | null = null;
  return (signal) => {
    const now = clock.now();
    if (received === null) {
      received = { signal, at: now };
      first(signal);
    } else if (signal === "SIGHUP") {
      // A closing terminal sends several, and no user is waiting.
      return;
    } else if (signal !== received.signal || Math.abs(now - received.at) > sameMs) {
      second(signal);
    }
  };
}
