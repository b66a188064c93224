import { fstatSync, writeSync } from "node:fs";
import { type Clock, systemClock } from "../../clock.ts";
import { InterruptError, type InterruptSignal, OutputError, ReaderGoneError } from "./errors.ts";
import { exitOnSignal } from "./exit.ts";
import { interruptReceiver } from "./interrupts.ts";

/** Everything of the outside world that a command may touch. Tests hand in a world of their own. */
export interface Context {
  readonly stdin: NodeJS.ReadableStream & { isTTY?: boolean };
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly clock: Clock;
  random(): number;
  readonly pid: number;
  /** Whether there is a process of that number, on this machine as far as it can be seen from here. */
  isRunning(pid: number): boolean;
  /** Aborted by the first SIGINT, SIGTERM or SIGHUP; its reason is an InterruptError. */
  readonly interrupt: AbortSignal;
  /** Has `run` called when a second interrupt stops the program, which waits for nothing more. Returns how to take that back. */
  onStop(run: (signal: InterruptSignal) => void): () => void;
  /**
   * Has the signals that end or nudge a program go to `receive` in place of `interrupt`, while another program runs in our
   * place; resolves to how to end that. What a terminal sends to all its programs is left out: the other one has it already.
   */
  passSignals(receive: (signal: NodeJS.Signals) => void): Promise<() => void>;
  /** Has memory that is free again be collected early, at some cost of time: for work that makes much of what is soon let go. */
  keepHeapSmall?(): void;
  /** Lets go of what would keep the program alive; called once, at the end. */
  release?(): void;
}

/** A stream that text goes out to. */
export interface Output {
  readonly isTTY: boolean;
  /** The width of the terminal; 80 when it is none. */
  readonly columns: number;
  /** Resolves when more may be written. Rejects with a ReaderGoneError when nobody reads any more. */
  write(text: string | Uint8Array): Promise<void> | void;
  /** The stream itself, for what draws on a terminal. */
  readonly raw: NodeJS.WritableStream;
}

/** Signals that end or nudge a program. */
const passed = ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2"] as const;
/** Those that a terminal sends, for a key, to every program that runs in front. */
const sentByTerminals: ReadonlySet<NodeJS.Signals> = new Set(["SIGINT", "SIGQUIT"]);

/** The context of the real program: the only place that reads `process`. */
export function nodeContext(): Context {
  const interrupt = new AbortController();
  const clock = systemClock();
  let passing = false;
  const lastActs = new Set<(signal: InterruptSignal) => void>();
  const receive = interruptReceiver(
    clock,
    (signal) => interrupt.abort(new InterruptError(signal)),
    // A second interrupt stops at once, as what the first one waits for may hang; it leaves the terminal's cursor
    // and line wrapping as they were.
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
  // Streams are made when first asked for: each costs time at start-up.
  let stdout: Output | undefined;
  let stderr: Output | undefined;
  return {
    get stdin() {
      touchedStdin = true;
      return process.stdin;
    },
    get stdout() {
      stdout ??= streamOutput(process.stdout, 1, true);
      return stdout;
    },
    get stderr() {
      // Nobody to tell that there is nobody to tell.
      stderr ??= streamOutput(process.stderr, 2, false);
      return stderr;
    },
    env: process.env,
    get cwd() {
      return process.cwd();
    },
    clock,
    random: Math.random,
    pid: process.pid,
    isRunning,
    interrupt: interrupt.signal,
    onStop(run) {
      lastActs.add(run);
      return () => lastActs.delete(run);
    },
    async passSignals(receive) {
      // Only who runs another program needs it, and every start would pay for it.
      const { isatty } = await import("node:tty");
      passing = true;
      const hasTerminal = [0, 1, 2].some((descriptor) => isatty(descriptor));
      const pass = (signal: NodeJS.Signals) => {
        if (!hasTerminal || !sentByTerminals.has(signal)) receive(signal);
      };
      for (const signal of passed) process.on(signal, pass);
      return () => {
        passing = false;
        for (const signal of passed) process.removeListener(signal, pass);
      };
    },
    keepHeapSmall() {
      // V8 lets the heap grow to four times of what is in use before it collects. This has it stop at 1.4 times.
      process.getBuiltinModule("node:v8").setFlagsFromString("--heap-growing-percent=40");
    },
    release() {
      // A half-read stdin would wait for its other end.
      if (touchedStdin) process.stdin.destroy();
    },
  };
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // It is there, but somebody else's.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function streamOutput(stream: NodeJS.WriteStream, descriptor: number, tellsErrors: boolean): Output {
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
      return stream.columns ?? 80;
    },
    write: (text) =>
      new Promise((resolve, reject) => {
        const settle = (error: Error | null) => (error === null || !tellsErrors ? resolve() : reject(error));
        if (broken !== null) return settle(broken);
        if (isFile()) return settle(writeToFile(descriptor, text));
        stream.write(text, (error) => settle(error ? asOutputError(error) : null));
      }),
    raw: stream,
  };
}

/** Writes everything, or gives why not: Node's own stream takes a write that a full disk has cut short for done. */
function writeToFile(descriptor: number, text: string | Uint8Array): Error | null {
  const bytes = typeof text === "string" ? Buffer.from(text) : text;
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
    return null;
  } catch (error) {
    return asOutputError(error as NodeJS.ErrnoException);
  }
}

/** A pipe nobody reads, on POSIX and on Windows; anything else is a fault such as a full disk. */
const asOutputError = (error: NodeJS.ErrnoException): Error =>
  error.code === "EPIPE" || error.code === "EOF" ? new ReaderGoneError() : new OutputError(error);
