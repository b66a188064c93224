import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { memoryFolder } from "../../test/support/memory-folder.ts";

export interface Order {
  readonly tests: readonly string[];
  /** Texts to run instead of those of the files, by path. */
  readonly texts: { readonly [path: string]: string };
  /** Whether the first test that fails ends the run. */
  readonly bail: boolean;
}

export interface Outcome {
  readonly failed: readonly string[];
  readonly tests: readonly { readonly test: string; readonly ms: number; readonly hits: readonly string[] }[];
}

/** A process that runs tests; it is replaced where tests do not end in time. */
export class Session {
  #child: ChildProcess | null = null;

  /** The outcome of the tests; null if they did not end in time. */
  async run(order: Order, limitMs: number): Promise<Outcome | null> {
    if (this.#child === null) {
      this.#child = fork(fileURLToPath(new URL("session.js", import.meta.url)), {
        execArgv: [],
        detached: true,
        env: { ...process.env, TMPDIR: memoryFolder() },
        stdio: ["ignore", "ignore", process.env.DEBUG === undefined ? "ignore" : "inherit", "ipc"],
      });
      await once(this.#child, "message");
    }
    this.#child.send(order);
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), limitMs);
    const { signal } = late;
    const ends = [
      once(this.#child, "message", { signal }).then(([outcome]) => outcome as Outcome),
      once(this.#child, "exit", { signal }).then(() => null),
    ];
    const outcome = await Promise.race(ends).catch(() => null);
    clearTimeout(timer);
    late.abort();
    await Promise.allSettled(ends);
    if (outcome === null) this.end();
    return outcome;
  }

  end(): void {
    // The group has the workers of vitest as well.
    if (this.#child?.exitCode === null) process.kill(-this.#child.pid!, "SIGKILL");
    this.#child = null;
  }
}
