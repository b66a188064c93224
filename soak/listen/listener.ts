import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

/** The signing secret of every listener here. */
export const secret = "whsec_of_the_soak";

export interface ListenerFiles {
  /** The program: the path of `bin/cat.js`. */
  readonly program: string;
  readonly folder: string;
  /** The path of the event log. */
  readonly log: string;
  /** Added to the flags, and to the environment. */
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A listener that ended before it listened. */
export class NotListeningError extends Error {
  readonly exit: number;

  constructor(exit: number, stderr: string) {
    super(`the listener exited with ${exit}: ${stderr}`);
    this.exit = exit;
  }
}

/** One process of `cat webhooks listen`. Its output goes to a file, which survives a kill. */
export class Listener {
  readonly #child: ChildProcess;
  readonly #out: string;
  readonly #ended: Promise<unknown>;

  private constructor(child: ChildProcess, out: string) {
    this.#child = child;
    this.#out = out;
    this.#ended = once(child, "close");
  }

  /** Starts it on a free port, and waits until it listens. */
  static async start(
    { program, folder, log, flags = [], env = {} }: ListenerFiles,
    name: string,
  ): Promise<Listener> {
    const out = join(folder, `out-${name}.ndjson`);
    const descriptor = openSync(out, "a");
    const args = ["webhooks", "listen", "--json", "--port", "0", "--log", log, ...flags];
    const child = spawn(process.execPath, [program, ...args], {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        CAT_HOME: join(folder, "home"),
        CAT_BASE_URL: "https://service.example.com",
        CAT_WEBHOOK_SECRET: secret,
        ...env,
      },
      stdio: ["ignore", descriptor, "pipe"],
    });
    closeSync(descriptor);
    let stderr = "";
    child.stderr!.on("data", (bytes: Buffer) => {
      stderr = (stderr + bytes.toString()).slice(-10_000);
    });
    const listener = new Listener(child, out);
    while (listener.#lines().length === 0) {
      if (child.exitCode !== null) throw new NotListeningError(child.exitCode, stderr);
      await pause(5);
    }
    return listener;
  }

  get url(): string {
    return (JSON.parse(this.#lines()[0]!) as { listening: string }).listening;
  }

  /** The IDs of the events that it printed. */
  printed(): string[] {
    return this.#lines()
      .slice(1)
      .map((line) => (JSON.parse(line) as { id: string }).id);
  }

  /**
   * Starts one that must not start. Returns its exit status; null if it listens, in which case it is killed.
   */
  static async refused(files: ListenerFiles, name: string): Promise<number | null> {
    try {
      await (await Listener.start(files, name)).stop("SIGKILL");
      return null;
    } catch (error) {
      if (error instanceof NotListeningError) return error.exit;
      throw error;
    }
  }

  /** Ends it as Ctrl-C does, or kills it. Returns its exit status; null if it was killed. */
  async stop(signal: "SIGINT" | "SIGKILL"): Promise<number | null> {
    this.#child.kill(signal);
    await this.#ended;
    return this.#child.exitCode;
  }

  /** Ends it by two signals, as `pnpm` does after a Ctrl-C. Returns its exit status. */
  async stopTwice(pauseMs: number): Promise<number | null> {
    this.#child.kill("SIGINT");
    await Promise.race([pause(pauseMs), this.#ended]);
    this.#child.kill("SIGTERM");
    await this.#ended;
    return this.#child.exitCode;
  }

  /** The most memory that it has had, in MB. */
  peakMemory(): number {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, "utf8");
    return Number(/VmHWM:\s+(\d+) kB/.exec(status)![1]) / 1024;
  }

  #lines(): string[] {
    return readFileSync(this.#out, "utf8").split("\n").slice(0, -1);
  }
}
