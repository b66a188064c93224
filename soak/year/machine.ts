import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import type { Context } from "../../src/cli/context/context.ts";
import { type Clock, MovableClock } from "../../src/clock.ts";
import { FakeKeychain } from "../../test/support/fake-keychain.ts";
import { FakeOutput } from "../../test/support/fake-output.ts";
import type { TestClock } from "../../test/support/test-clock.ts";
import { Running } from "../program.ts";
import type { Program } from "./programs.ts";

/** How a command ended; the status of a killed process is null. */
export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** What the machines of a year share. */
export interface Site {
  readonly clock: TestClock;
  program: Program;
  readonly env: Readonly<Record<string, string>>;
  /** Called for each request that the service gets, while a command is disturbed. */
  onRequest: (() => void) | null;
  readonly onProcess: (use: ProcessUse) => void;
}

/** What a process took: the most memory, in bytes, and processor time in milliseconds. */
export interface ProcessUse {
  readonly words: string;
  readonly rss: number;
  readonly cpuMs: number;
}

/** A computer with a folder, a state and a key of its own. */
export class Machine {
  readonly folder: string;
  readonly home: string;
  key: string;
  /** How far its clock is ahead, in milliseconds. */
  aheadMs = 0;
  readonly #site: Site;
  readonly #who: string;

  constructor(site: Site, root: string, name: string) {
    this.#site = site;
    this.#who = `${name}@shop`;
    this.folder = join(root, name);
    this.home = join(this.folder, "home");
    this.key = `ak_${name}`;
    mkdirSync(this.home, { recursive: true });
  }

  at = (path: string): string => join(this.folder, path);

  write(path: string, content: string | Uint8Array): void {
    mkdirSync(join(this.at(path), ".."), { recursive: true });
    writeFileSync(this.at(path), content);
  }

  /** Removes what the machine remembers. */
  forgetAll(): void {
    rmSync(this.home, { recursive: true });
    mkdirSync(this.home);
  }

  /** Runs a command in this process. With `stop`, its waits move no clock, and the signal ends it as Ctrl-C does. */
  async cat(argv: readonly string[], stop?: AbortSignal, out = new FakeOutput()): Promise<Ended> {
    const { clock, program } = this.#site;
    const errors = new FakeOutput();
    const interrupt = new AbortController();
    stop?.addEventListener("abort", () => interrupt.abort(new program.interruptError("SIGINT")));
    const context: Context = {
      program: "cat",
      stdin: Object.assign(new PassThrough().end(), { isTTY: false }),
      stdout: out,
      stderr: errors,
      env: this.#env,
      homeFolder: async () => this.home,
      cwd: this.folder,
      clock: stop === undefined ? aheadOf(clock, this.aheadMs) : backgroundOf(clock),
      who: () => this.#who,
      random: Math.random,
      pid: process.pid,
      nodeVersion: process.versions.node,
      isRunning: (pid) => pid === process.pid,
      interrupt: interrupt.signal,
      onStop: () => () => {},
      passSignals: async () => () => {},
      keychain: async () => new FakeKeychain(),
    };
    const status = await program.main(argv, context);
    return { status, stdout: out.text, stderr: errors.text };
  }

  /** Starts the program, whose clock shows the time of the year, and waits for its end. */
  async start(
    argv: readonly string[],
    { env = {}, onStart }: { env?: Record<string, string>; onStart?: (running: Running) => void } = {},
  ): Promise<Ended> {
    const { clock, program, onProcess } = this.#site;
    const used = this.at("used.json");
    const { NODE_OPTIONS = "" } = env;
    const running = new Running(program.file, argv, {
      cwd: this.folder,
      env: {
        ...{ ...(this.#env as Record<string, string>), ...env },
        NODE_OPTIONS: `--import=${new URL("moved.js", import.meta.url).href} ${NODE_OPTIONS}`,
        ...{ SOAK_AHEAD_MS: String(clock.now() + this.aheadMs - Date.now()), SOAK_USED: used },
      },
    });
    onStart?.(running);
    const ended = await whileTicking(clock, running.ended);
    if (ended.status !== null) {
      onProcess({ ...JSON.parse(readFileSync(used, "utf8")), words: argv.slice(0, 2).join(" ") });
      rmSync(used);
    }
    return ended;
  }

  get #env() {
    return { ...this.#site.env, CAT_API_KEY: this.key, CAT_HOME: this.home, HOME: this.home };
  }
}

/** The clock of a machine that is wrong by some milliseconds; its waits pass at once, as those of the other clock. */
const aheadOf = (clock: TestClock, ms: number): Clock =>
  ms === 0
    ? clock
    : {
        now: () => clock.now() + ms,
        sleep: (length, signal) => clock.sleep(length, signal),
        at: (time, run) => clock.at(time - ms, run),
      };

/** A clock for what runs in the background: its waits never make the other clock jump. */
const backgroundOf = (clock: TestClock): Clock => ({
  now: () => clock.now(),
  sleep: (ms, signal) => MovableClock.prototype.sleep.call(clock, ms, signal),
  at: (time, run) => clock.at(time, run),
});

/** Moves the clock with the machine's, and by nothing else, until the work of other processes is done. */
export async function whileTicking<T>(clock: TestClock, work: Promise<T>): Promise<T> {
  clock.isIdle = () => false;
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    clock.advance(Math.round(now - last));
    last = now;
  }, 5);
  try {
    return await work;
  } finally {
    clearInterval(timer);
    clock.isIdle = () => true;
  }
}
